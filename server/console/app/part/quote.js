// Which offers fit a purchase that is being tried, what each takes off, and why the others do not fit.
import { html } from '../ui.js'
import { t, money } from '../words.js'
import { ask, id } from '../api.js'
import { Empty } from './state.js'
import { Badge } from './figures.js'

const parts = ['product_id', 'product_category', 'quantity', 'price', 'discount', 'subtotal']
const pick = (of, names) => Object.fromEntries(names.filter((n) => of[n] !== undefined).map((n) => [n, of[n]]))

// quote asks which offers the purchase of a form would get. It needs no customer and records nothing.
export async function quote(customer, data) {
  const cart = { ...pick(data, ['total', 'discount', 'shipping']), items: (data.items || []).map((line) => pick(line, parts)) }
  const { data: offers } = await ask('/offers', { ...(customer && { customer }), ...(data.store && { store: data.store }), eligible_only: false, cart })
  return { offers, currency: data.currency }
}

export function Quote({ of: { offers, currency } }) {
  return html`<section aria-live="polite" class="explain quote"><h2>${t('quote.title')}</h2><p class="small">${t('quote.text')}</p>
    ${!offers.length && html`<${Empty} text=${t('quote.none')} />`}
    <div class="rules">${offers.map((o) => html`<div class=${'rule' + (o.is_eligible ? ' applied' : '')}><header><a href=${'#/entity/offers/offer/' + id(o.id)}>${o.name}</a>${o.is_eligible ? html`<strong class="gain">−${money(o.amount, currency)}</strong>` : html`<${Badge} state=${t('quote.not')} />`}</header>
      ${o.reason && html`<p>${t('quote.why.' + o.reason)}</p>`}</div>`)}</div></section>`
}
