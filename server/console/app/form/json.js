// AsJSON is for values that no field can show. A text that is not JSON is kept and marked.
import { html, useEffect, useState } from '../ui.js'

export function AsJSON({ value, change, rows = 6, mark, id }) {
  const [text, set] = useState(value === undefined ? '' : JSON.stringify(value, null, 2))
  const [wrong, fail] = useState('')
  useEffect(() => {
    let same = false
    try {
      same = JSON.stringify(JSON.parse(text)) === JSON.stringify(value)
    } catch {}
    if (!same && !wrong) set(value === undefined ? '' : JSON.stringify(value, null, 2))
  }, [value])
  const put = (e) => {
    set(e.target.value)
    try {
      change(e.target.value.trim() ? JSON.parse(e.target.value) : undefined)
      fail('')
    } catch (error) {
      fail(error.message)
    }
  }
  return html`<textarea class="code" id=${id} rows=${rows} spellcheck=${false} value=${text} onInput=${put} aria-invalid=${Boolean(wrong)} aria-label=${id ? undefined : mark || 'JSON'}></textarea>${wrong && html`<span class="wrong" role="alert">${wrong}</span>`}`
}
