// One customer: figures, events, points by lot, purchases, coupons, progress and data.
import { html } from '../ui.js'
import { t, number, day } from '../words.js'
import { get, can, id, maskedText } from '../api.js'
import { useLoad } from '../load.js'
import { filter } from '../router.js'
import { Loaded, Title, Id } from '../part/state.js'
import { Badge, Card } from '../part/figures.js'
import { Timeline } from '../part/timeline.js'
import { Lots } from '../part/lots.js'
import { Purchases, Coupons, Progress, Data } from '../part/holdings.js'
import { Acts } from '../part/acts.js'
import { When } from '../part/when.js'
import { modulesOn } from '../part/modules.js'

const tabs = { timeline: Timeline, points: Lots, purchases: Purchases, coupons: Coupons, progress: Progress, data: Data }

// nameOf is the name of a customer, or the id if the name is masked.
const nameOf = (c) => [[c.first_name, c.last_name].filter(Boolean).join(' '), c.handler].find((name) => name && !name.includes(maskedText)) || c.id

export default function Customer({ place }) {
  const who = place.parts[1]
  const tab = tabs[place.query.tab] ? place.query.tab : 'timeline'
  const one = useLoad(() => get('/customers/' + id(who)), [who])
  return html`<p class="crumb"><a href="#/customers">${t('nav.customers')}</a> ›</p><${Loaded} of=${one} title=${who}>${({ data: c }) => html`
    <${Title} text=${nameOf(c)}><${Acts} c=${c} again=${one.again} /></${Title}>
    <p class="actions"><${Id} value=${c.id} /> <${Badge} state=${c.status} /> <span>${c.email || ''}</span> ${(c.labels || []).map((l) => html`<span class="badge">${l}</span> `)}
      <${Tiers} who=${who} />
      <span class="small">${t('customer.since')} <${When} at=${c.created_at} as=${day} /> · ${t('customer.last', { at: '' })} <${When} at=${c.updated_at} /></span></p>
    <div class="cards">${['spendable', 'reserved', 'pending', 'score', 'spent', 'expired'].map((f) => html`<${Card} label=${t('points.' + f)} value=${number(c[f])} />`)}</div>
    <div class="tabs" role="tablist">${Object.keys(tabs).map((n) => html`<button role="tab" aria-selected=${n === tab} onClick=${() => filter({ tab: n, as_of: '', action: '' })}>${t('customer.tab.' + n)}</button>`)}</div>
    <div role="tabpanel" aria-label=${t('customer.tab.' + tab)}><${tabs[tab]} who=${who} customer=${c} place=${place} key=${tab} /></div>`}</${Loaded}>`
}

// Tiers are the customer's current tiers.
function Tiers({ who }) {
  const all = useLoad(async () => (can('listCustomerLevels') && (await modulesOn())('tiers') ? (await get(`/customers/${id(who)}/levels`)).data.filter((l) => l.current) : []), [who])
  return (all.data || []).map((l) => html`<span class="badge tier" title=${l.structure.name}><bdi>${l.name}</bdi></span> `)
}
