// What a purchase would earn, with and without campaigns: shown beside a campaign, to see its part.
import { html, useState } from '../ui.js'
import { t, number } from '../words.js'
import { ask, can, get, id } from '../api.js'
import { useLoad } from '../load.js'
import { Failure } from './state.js'
import { Card, Points } from './figures.js'

// sample is a line, because a purchase without lines earns nothing.
const sample = (subtotal) => ({ product_id: 'sample', product_name: 'Sample', product_url: location.origin, quantity: 1, subtotal })

export function Basket({ name }) {
  const [state, set] = useState({})
  const some = useLoad(() => (can('listCustomers') ? get('/customers', { limit: 20 }).then((a) => a.data) : []), [])
  const send = async (e) => {
    e.preventDefault()
    const f = e.target.elements
    const customer = f.customer.value.trim()
    try {
      const total = Number(f.total.value)
      set({ customer, of: (await ask('/automation/campaigns/preview', { customer, action: 'checkout', data: { transaction_id: 'T-' + crypto.randomUUID().slice(0, 8), total, items: [sample(total)] } })).data })
    } catch (error) {
      set({ error })
    }
  }
  const { of } = state
  const own = of?.campaigns.find((c) => c.id === name)
  return html`<section class="panel"><h2>${t('basket.title')}</h2><p class="soft">${t('basket.text')}</p>
    <form class="filters" onSubmit=${send}><label>${t('purchase.total')}<input name="total" type="number" min="0" step="any" value="60" required /></label>
      <label>${t('customer')}<input name="customer" list="basket-customers" autocomplete="off" value=${some.data?.[0]?.id} required /><datalist id="basket-customers">${(some.data || []).map((c) => html`<option value=${c.id}>${[c.first_name, c.last_name].filter(Boolean).join(' ')}</option>`)}</datalist></label><button>${t('tester.preview')}</button></form>
    ${state.error && html`<${Failure} error=${state.error} />`}
    ${of && html`<div aria-live="polite" class="basket"><div class="cards">${['base', 'bonus', 'points', 'burned'].map((f) => html`<${Card} label=${t('basket.' + f)} value=${number(of[f])} />`)}</div>
      <p><strong>${own ? t('basket.gives', { n: own.points }) : t('basket.nothing')}</strong> <a href=${'#/tester?action=checkout&customer=' + id(state.customer)}>${t('basket.why')}</a></p>
      <ul>${of.campaigns.map((c) => html`<li><a href=${'#/campaigns/' + id(c.id)}>${c.name}</a> <${Points} n=${c.points} /></li>`)}</ul></div>`}</section>`
}
