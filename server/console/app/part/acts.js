// The actions on a customer: correct points, suspend, verify, merge, forget.
import { html, useState } from '../ui.js'
import { t } from '../words.js'
import { get, post, can, id, me } from '../api.js'
import { go } from '../router.js'
import { useLoad } from '../load.js'
import { sure, openDialog } from './dialog.js'
import { tell } from './toast.js'
import { Correction } from './correction.js'
import { Failure } from './state.js'
import { saveAs } from './save.js'

export function Acts({ c, again }) {
  const [wrong, fail] = useState(null)
  const [merging, merge] = useState(false)
  const login = useLoad(() => (can('getModule') ? get('/admin/modules/customer_login').then((m) => m.data.enabled, () => false) : false), [])
  const act = async (path, body, title, danger, text = c.id) => {
    if (!(await sure(title, text, danger))) return
    try {
      await post(path, body)
      fail(null)
      tell(t('done'))
      again()
    } catch (e) {
      fail(e)
    }
  }
  const submit = (action, title, danger, text) => act('/events', { customer: c.id, action, data: {} }, title, danger, text)
  // known downloads all data of the customer as a file, for an access request
  const known = async () => {
    const named = me.now.personal
    if (!(await sure(t('customer.known'), named ? t('customer.known.named', { id: c.id }) : t('customer.known.text', { id: c.id })))) return
    try {
      const text = await get(`/customers/${id(c.id)}/export`, { personal: named ? 'true' : '' })
      fail(null)
      saveAs(`customer-${c.id}.ndjson`.replace(/[^\w.-]/g, '_'), typeof text === 'string' ? text : JSON.stringify(text) + '\n', 'application/x-ndjson')
      tell(t('done'))
    } catch (e) {
      fail(e)
    }
  }
  if (!can('submitEvent')) return null
  const here = !['opted_out', 'merged'].includes(c.status)
  return html`<div class="acts"><div class="actions">
      ${here && html`<${Correction} customer=${c} done=${again} />`}
      <a class="button" href=${'#/tester?customer=' + id(c.id)}>${t('customer.event')}</a>
      ${c.status === 'suspended' ? html`<button onClick=${() => submit('unsuspend', t('customer.unsuspend'))}>${t('customer.unsuspend')}</button>` : here && html`<button onClick=${() => submit('suspend', t('customer.suspend'))}>${t('customer.suspend')}</button>`}
      ${here && can('verifyCustomer') && login.data && html`<button onClick=${() => act(`/customers/${id(c.id)}/verify`, {}, t('customer.verify'))}>${t('customer.verify')}</button>`}
      ${here && can('mergeCustomer') && html`<button aria-expanded=${merging} onClick=${() => merge(!merging)}>${t('customer.merge')}</button>`}
      ${here && can('exportCustomer') && html`<button onClick=${known}>${t('customer.known')}</button>`}
      ${here && html`<button class="danger" onClick=${() => submit('opt_out', t('customer.forget'), true, t('customer.forget.text', { id: c.id }))}>${t('customer.forget')}</button>`}</div>
    ${merging && html`<${Merge} c=${c} fail=${fail} close=${() => merge(false)} />`}${wrong && html`<${Failure} error=${wrong} />`}</div>`
}

// Merge shows both customers before it joins them, because a merge cannot be undone.
function Merge({ c, fail, close }) {
  const send = async (e) => {
    e.preventDefault()
    const target = e.target.elements.target.value.trim()
    try {
      const { data: into } = await get('/customers/' + id(target))
      const line = (x) => html`<tr><th scope="row"><code>${x.id}</code></th><td>${[x.first_name, x.last_name].filter(Boolean).join(' ')}</td><td>${x.email || ''}</td><td class="right">${x.spendable}</td></tr>`
      const content = html`<p>${t('customer.merge.text', { from: c.id, to: into.id })}</p><div class="scroll"><table><tbody>${line(c)}${line(into)}</tbody></table></div>`
      if (!(await openDialog({ title: t('customer.merge'), content, danger: true, yes: t('customer.merge'), no: t('cancel') }))) return
      await post(`/customers/${id(c.id)}/merge`, { target: into.id })
      fail(null)
      tell(t('done'))
      close()
      go('/customer/' + id(into.id))
    } catch (error) {
      fail(error)
    }
  }
  return html`<form class="filters" onSubmit=${send}><label>${t('customer.merge.into')}<input name="target" required placeholder="member-1001" /></label><button class="primary">${t('customer.merge')}</button><button type="button" onClick=${close}>${t('cancel')}</button></form>`
}
