// Try an event: a form made from the action's schema, the answer of each rule, and then, if wanted, for real.
import { html, useEffect, useState } from '../ui.js'
import { t, has } from '../words.js'
import { ask, get, post, can, id, documentOf } from '../api.js'
import { filter } from '../router.js'
import { useLoad } from '../load.js'
import { Loaded, Title, Failure } from '../part/state.js'
import { sure } from '../part/dialog.js'
import { tell } from '../part/toast.js'
import { Fields, AsJSON } from '../form/form.js'
import { bodyOf, variants, example, plain, clean } from '../form/schema.js'
import { Explanation } from '../part/explain.js'
import { Cases, saveCase } from '../part/cases.js'
import { modulesOn } from '../part/modules.js'
import { Quote, quote } from '../part/quote.js'

export default function Tester({ place }) {
  const start = useLoad(async () => {
    const some = can('listCustomers') ? (await get('/customers', { limit: 20 })).data : []
    const on = await modulesOn()
    return { doc: await documentOf('events'), some, declared: await declaredActions(on), offers: can('quoteOffers') && on('offers') }
  })
  return html`<${Title} text=${t('nav.tester')} /><p class="lead">${t('tester.text')}</p>
    <${Loaded} of=${start}>${({ doc, some, declared, offers }) => html`<${Try} doc=${doc} some=${some} declared=${declared} offers=${offers} place=${place} again=${start.again} />`}</${Loaded}>`
}

// declaredActions are the actions that the programme declares.
async function declaredActions(on) {
  if (!can('listEntities') || !on('custom_events')) return []
  return (await get('/entities/custom-events/action', { limit: 100 })).data.map((a) => a.id)
}

// paid is the sum of the lines of a purchase, in cents; a total that was right is adjusted when a line changes.
const paid = (data) => Math.round(100 * (data.items || []).reduce((sum, line) => sum + (line?.subtotal || 0), 0))
const totalled = (before, now) => (now.items && now.total === before.total && paid(before) === Math.round(100 * before.total) ? { ...now, total: paid(now) / 100 } : now)

const fresh = () => 'T-' + crypto.randomUUID().slice(0, 8)

// small makes a readable sample of a purchase: one line with the required properties, and a new id.
function small(data) {
  const { transaction_id: purchase, items, currency } = data
  if (!purchase || !items) return data
  const { product_id, product_name, product_url, quantity, subtotal, product_category } = items[0]
  return { transaction_id: fresh(), total: subtotal, currency, items: [{ product_id, product_name, product_url, quantity, subtotal, product_category }] }
}

function Try({ doc, some, declared, offers, place, again }) {
  const { schema, examples } = bodyOf(doc, '/events')
  const actions = variants(doc, schema)
  const action = place.query.action || 'checkout'
  const [customer, setCustomer] = useState(place.query.customer || some[0]?.id || '')
  const made = () => small(example(doc, examples, action)?.data || {})
  const [data, setData] = useState(made) // set with the form, so that an immediate press previews the sample
  const [asText, setText] = useState(false)
  const [result, set] = useState({})
  const sample = () => setData(made())
  useEffect(sample, [action])
  useEffect(() => document.querySelector('.tester .result, .tester .failure, .tester .quote')?.scrollIntoView({ block: 'nearest' }), [result])
  const body = () => ({ customer, action, data: clean(data) || {} })
  const preview = async (e) => {
    e?.preventDefault()
    try {
      set({ answer: await ask('/events/preview', body()) })
    } catch (error) {
      set({ error })
    }
  }
  const fitting = async () => {
    try {
      set({ quoted: await quote(customer, clean(data) || {}) })
    } catch (error) {
      set({ error })
    }
  }
  const submit = async () => {
    if (!(await sure(t('tester.submit'), `${customer} · ${action}`, true))) return
    try {
      set({ answer: await post('/events', body()), real: true })
      if (data.transaction_id) setData({ ...data, transaction_id: fresh() })
      tell(t('done'))
    } catch (error) {
      set({ error })
    }
  }
  const enrol = async () => {
    try {
      await post('/events', { customer: 'sample-1', action: 'opt_in', data: { first_name: 'Sample', last_name: 'Member', email: 'sample-1@example.com' } })
      setCustomer('sample-1')
      set({})
      again()
    } catch (error) {
      set({ error })
    }
  }
  const own = actions[action] && plain(doc, plain(doc, actions[action]).properties?.data)
  const errors = (result.error?.details || []).map((d) => ({ ...d, field: d.field.replace(/^data\./, '') }))
  return html`<div class="split tester"><form class="panel" onSubmit=${preview} onKeyDown=${(e) => e.key === 'Enter' && e.ctrlKey && e.currentTarget.requestSubmit()}>
      ${!some.length && can('submitEvent') && html`<div class="notice"><p>${t('tester.nobody')}</p><button type="button" onClick=${enrol}>${t('tester.enrol')}</button></div>`}
      <div class="fields">
        <div class="field"><label for="try-customer">${t('customer')}</label><input id="try-customer" name="customer" list="try-customers" autocomplete="off" value=${customer} onInput=${(e) => setCustomer(e.target.value)} required /><datalist id="try-customers">${some.map((c) => html`<option value=${c.id}>${[c.first_name, c.last_name].filter(Boolean).join(' ')}</option>`)}</datalist>
          ${customer && some.length > 0 && html`<span class="help"><a href=${'#/customer/' + id(customer)}>${t('tester.page')}</a></span>`}</div>
        <div class="field"><label for="try-action">${t('event.action')}</label><select id="try-action" name="action" value=${action} onChange=${(e) => (set({}), filter({ action: e.target.value }))}>${[...Object.keys(actions), ...declared.filter((a) => !actions[a])].sort().map((a) => html`<option value=${a}>${has('action.' + a) ? t('action.' + a) + ' – ' : ''}${a}</option>`)}</select></div>
      </div>
      <div class="title"><h2>${t('event.data')}</h2><span class="actions"><button type="button" class="tiny" onClick=${sample}>${t('tester.sample')}</button><button type="button" class="tiny" aria-pressed=${asText} onClick=${() => setText(!asText)}>JSON</button></span></div>
      ${asText || !own?.properties ? html`<${AsJSON} value=${data} change=${(v) => setData(v || {})} rows=${16} />` : html`<${Fields} doc=${doc} schema=${own} value=${data} change=${(now) => setData(totalled(data, now))} errors=${errors} form=${action} />`}
      <div class="actions save"><button class="primary" title="Ctrl+Enter">${t('tester.preview')}</button>${offers && action === 'checkout' && html`<button type="button" onClick=${fitting}>${t('quote.do')}</button>`}${can('submitEvent') && html`<button type="button" class="danger" onClick=${submit}>${t('tester.submit')}</button>`}</div>
    </form>
    <div>${result.error && html`<${Failure} error=${result.error} />`}
      ${result.answer && html`<${Explanation} answer=${result.answer} real=${result.real} />
        ${!result.real && html`<p><button onClick=${() => saveCase(body(), result.answer)}>${t('case.save')}</button></p>`}`}
      ${result.quoted && html`<${Quote} of=${result.quoted} />`}
      ${!result.answer && !result.error && !result.quoted && html`<div class="empty"><p>${t('tester.begin')}</p></div>`}
      <${Cases} /></div></div>`
}
