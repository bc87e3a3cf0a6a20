// A correction of points, which needs a reason.
import { html, useState } from '../ui.js'
import { t } from '../words.js'
import { post } from '../api.js'
import { tell } from './toast.js'

export function Correction({ customer, done }) {
  const [open, set] = useState(false)
  const [wrong, fail] = useState('')
  const [key] = useState(() => crypto.randomUUID())
  const send = async (e) => {
    e.preventDefault()
    const f = e.target.elements
    const points = Number(f.points.value)
    try {
      await post('/events', { customer, action: points < 0 ? 'point_sub' : 'point_add', data: { points: Math.abs(points), reason: f.reason.value } }, key)
      tell(t('done'))
      set(false)
      done()
    } catch (error) {
      fail(error.message)
    }
  }
  if (!open) return html`<button onClick=${() => set(true)}>${t('customer.correct')}</button>`
  return html`<form class="filters" onSubmit=${send}>
    <label>${t('points')}<input name="points" type="number" required placeholder="-50" ref=${(n) => n && !n.value && n.focus()} /></label>
    <label>${t('customer.reason')}<input name="reason" required /></label>
    <button class="primary">${t('customer.correct')}</button><button type="button" onClick=${() => set(false)}>${t('cancel')}</button>
    ${wrong && html`<p class="wrong" role="alert">${wrong}</p>`}
  </form>`
}
