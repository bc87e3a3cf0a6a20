// A correction of points, which needs a reason. A large one, or one beyond the balance, is previewed first.
import { html, useState } from '../ui.js'
import { t, number } from '../words.js'
import { ask, post } from '../api.js'
import { openDialog } from './dialog.js'
import { tell } from './toast.js'

const large = 1000 // points: a larger correction is more likely a slip than a gift

// agreed previews a large correction and asks whether to make it.
async function agreed(customer, event, points) {
  if (Math.abs(points) < large && customer.spendable + points >= 0) return true
  const preview = await ask('/events/preview', event)
  const after = preview.customer?.spendable ?? customer.spendable + points
  const row = (name, n) => html`<tr><th scope="row">${name}</th><td class="right">${number(n)}</td></tr>`
  const content = html`<table class="balances"><tbody>${row(t('customer.before'), customer.spendable)}${row(t('customer.change'), points)}${row(t('customer.after'), after.spendable)}</tbody></table>`
  return openDialog({ title: t('customer.correct.sure', { n: points }), content, danger: true, yes: t('customer.correct'), no: t('cancel') })
}

export function Correction({ customer, done }) {
  const [open, set] = useState(false)
  const [wrong, fail] = useState('')
  const send = async (e) => {
    e.preventDefault()
    const f = e.target.elements
    const points = Number(f.points.value)
    /** @type {any} */
    const event = { customer: customer.id, action: points < 0 ? 'point_sub' : 'point_add', data: { points: Math.abs(points), reason: f.reason.value } }
    try {
      if (!(await agreed(customer, event, points))) return
      await post('/events', event)
      fail('')
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
