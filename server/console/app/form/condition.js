// A condition: a text, with the facts that it may name and some samples, both from the API's document.
import { html, useEffect, useState } from '../ui.js'
import { t } from '../words.js'
import { documentOf, me } from '../api.js'

// grammar reads the samples and the facts from the description.
async function grammar() {
  const text = ((await documentOf('entities')).info.description.split('**Conditions**')[1] || '').split('**Signing**')[0]
  const samples = (text.match(/```\n([\s\S]*?)```/)?.[1] || '').trim().split('\n').map((l) => l.trim())
  const facts = [...text.matchAll(/^ *- (.*(?:\n {2,}\S.*)*)/gm)].map((m) => m[1].replace(/\s+/g, ' '))
  return { samples, facts }
}

export function Condition({ common, value, set, change }) {
  const [help, show] = useState(null)
  useEffect(() => {
    let here = true
    grammar().then((g) => here && show(g), () => {})
    return () => {
      here = false
    }
  }, [])
  return html`<textarea class="code" spellcheck=${false} rows="2" ...${common} value=${value ?? ''} onInput=${set}></textarea>
    ${help && html`<details class="data"><summary>${t('condition.help')}</summary>
      <p class="small">${t('condition.samples')}</p><div class="chips">${help.samples.map((s) => html`<button type="button" onClick=${() => change(value ? `(${value}) and (${s})` : s)}><code>${s}</code></button>`)}</div>
      ${!me.now.personal && html`<p class="small">${t('condition.whole')}</p>`}<p class="small">${t('condition.facts')}</p><ul class="small" lang="en">${help.facts.map((f) => html`<li>${f.split('`').map((part, i) => (i % 2 ? html`<code>${part}</code>` : part))}</li>`)}</ul></details>`}`
}
