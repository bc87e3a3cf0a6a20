// One customer: figures, what happened, their points by lot, purchases, coupons, progress and data.
import { html } from '../ui.js'
import { t, number, day, time } from '../words.js'
import { get, post, can, id } from '../api.js'
import { useLoad } from '../load.js'
import { filter } from '../router.js'
import { Loaded, Title, Id } from '../part/state.js'
import { Badge, Card } from '../part/figures.js'
import { sure } from '../part/dialog.js'
import { tell } from '../part/toast.js'
import { Timeline } from '../part/timeline.js'
import { Lots } from '../part/lots.js'
import { Purchases, Coupons, Progress, Data } from '../part/holdings.js'
import { Correction } from '../part/correction.js'

const tabs = { timeline: Timeline, points: Lots, purchases: Purchases, coupons: Coupons, progress: Progress, data: Data }

export default function Customer({ place }) {
  const who = place.parts[1]
  const tab = tabs[place.query.tab] ? place.query.tab : 'timeline'
  const one = useLoad(() => get('/customers/' + id(who)), [who])
  return html`<${Loaded} of=${one}>${({ data: c }) => html`
    <${Title} text=${[c.first_name, c.last_name].filter(Boolean).join(' ') || c.handler || c.id}><${Actions} c=${c} again=${one.again} /></${Title}>
    <p><${Id} value=${c.id} /> <${Badge} state=${c.status} /> ${c.email || ''} ${(c.labels || []).map((l) => html`<span class="badge">${l}</span> `)}</p>
    <div class="cards">
      ${['spendable', 'reserved', 'pending', 'score', 'spent', 'expired'].map((f) => html`<${Card} label=${t('points.' + f)} value=${number(c[f])} />`)}
      <${Card} label=${t('customer.since')} value=${day(c.created_at)} note=${t('customer.last', { at: time(c.updated_at) })} />
    </div>
    <div class="tabs" role="tablist">${Object.keys(tabs).map((n) => html`<button role="tab" aria-selected=${n === tab} onClick=${() => filter({ tab: n, as_of: '', action: '' })}>${t('customer.tab.' + n)}</button>`)}</div>
    <div role="tabpanel"><${tabs[tab]} who=${who} customer=${c} place=${place} key=${tab} /></div>`}</${Loaded}>`
}

function Actions({ c, again }) {
  const submit = async (action, title, data = {}, danger) => {
    if (!(await sure(title, `${c.id} · ${action}`, danger))) return
    try {
      await post('/events', { customer: c.id, action, data })
      tell(t('done'))
      again()
    } catch (e) {
      tell(e.message)
    }
  }
  if (!can('submitEvent')) return null
  return html`<${Correction} customer=${c.id} done=${again} />
    <a href=${'#/tester?customer=' + id(c.id)}>${t('customer.event')}</a>
    ${c.status === 'suspended'
      ? html`<button onClick=${() => submit('unsuspend', t('customer.unsuspend'))}>${t('customer.unsuspend')}</button>`
      : html`<button onClick=${() => submit('suspend', t('customer.suspend'))}>${t('customer.suspend')}</button>`}
    <button class="danger" onClick=${() => submit('opt_out', t('customer.forget'), {}, true)}>${t('customer.forget')}</button>`
}
