// A customer's points as lots on a time axis, on any day: the slider sets as_of.
import { html, useState } from '../ui.js'
import { t, number, day } from '../words.js'
import { get, id } from '../api.js'
import { filter } from '../router.js'
import { useLoad } from '../load.js'
import { Loaded, Empty } from './state.js'
import { Table } from './table.js'
import { Balance } from './balance.js'
import { Card } from './figures.js'
import { When } from './when.js'

const dayMS = 86400000
const shown = 60 // bars: the lots with something left, then those earned last; the table below has all

export function Lots({ who, customer, place }) {
  const asOf = place.query.as_of
  const points = useLoad(() => get(`/customers/${id(who)}/points`, { as_of: asOf, used_up: 'true' }), [who, asOf])
  const born = Date.parse(customer.created_at)
  const days = Math.max(1, Math.ceil((Date.now() - born) / dayMS))
  const now = asOf ? Math.round((Date.parse(asOf) - born) / dayMS) : days
  const [at, slide] = useState(now)
  const then = (n) => new Date(Math.min(born + n * dayMS, Date.now())).toISOString()
  return html`<label>${t('lots.asof')}: <strong>${at >= days ? t('lots.now') : day(then(at))}</strong>
      <input type="range" min="0" max=${days} value=${at} onInput=${(e) => slide(Number(e.target.value))} onChange=${(e) => filter({ as_of: Number(e.target.value) >= days ? '' : then(Number(e.target.value)) })} /></label>
    <${Balance} who=${who} customer=${customer} asOf=${asOf} />
    <${Loaded} of=${points}>${({ data }) => html`
      ${asOf && html`<div class="cards">${['spendable', 'reserved', 'score', 'spent', 'expired', 'debt'].map((f) => html`<${Card} label=${t('points.' + f)} value=${number(data[f])} />`)}</div>`}
      <${Axis} lots=${data.lots} at=${asOf ? Date.parse(asOf) : Date.now()} />`}</${Loaded}>`
}

// together joins credits that were earned on one day and expire on one day in one bar.
function together(lots) {
  const bars = new Map()
  for (const l of lots) {
    const key = day(l.earned_at) + (l.expires_at ? day(l.expires_at) : '')
    const bar = bars.get(key)
    if (bar) for (const part of ['points', 'remaining', 'reserved', 'spent', 'expired']) bar[part] += l[part]
    else bars.set(key, { ...l })
  }
  const left = (l) => Number(l.remaining + l.reserved > 0)
  const earned = (l) => Date.parse(l.earned_at)
  return [...bars.values()].sort((a, b) => left(b) - left(a) || earned(b) - earned(a)).slice(0, shown).sort((a, b) => earned(a) - earned(b))
}

// parts are the stacked parts of a bar: remaining, reserved, spent, expired; the rest was taken back.
function parts(l) {
  let under = 0
  return ['remaining', 'reserved', 'spent', 'expired'].map((part) => {
    const bottom = under
    under += (100 * l[part]) / l.points
    return l[part] > 0 && html`<b class=${part} style=${{ bottom: bottom + '%', height: under - bottom + '%' }}></b>`
  })
}

// taken is what was taken back of a lot: the earned points minus all other parts.
const taken = (l) => l.points - l.remaining - l.reserved - l.spent - l.expired

function Axis({ lots, at }) {
  if (!lots.length) return html`<${Empty} text=${t('lots.none')} />`
  const bars = together(lots)
  const from = Math.min(...bars.map((l) => Date.parse(l.earned_at)))
  const ends = bars.filter((l) => l.expires_at).map((l) => Date.parse(l.expires_at))
  const to = Math.max(Date.now(), ...(ends.length ? ends : [Date.now() + 365 * dayMS]))
  const place = (ms) => (100 * (ms - from)) / (to - from || 1)
  const columns = [
    { key: 'earned_at', label: t('lots.earned'), cell: (l) => html`<${When} at=${l.earned_at} as=${day} />` },
    { key: 'expires_at', label: t('lots.expires'), cell: (l) => (l.expires_at ? day(l.expires_at) : t('never')) },
    { key: 'points', label: t('points'), right: true, cell: (l) => number(l.points) },
    { key: 'spent', label: t('lots.used'), right: true, cell: (l) => number(l.spent) },
    { key: 'expired', label: t('points.expired'), right: true, cell: (l) => number(l.expired) },
    { key: 'taken', label: t('lots.taken'), right: true, cell: (l) => number(taken(l)), text: taken },
    { key: 'reserved', label: t('points.reserved'), right: true, cell: (l) => number(l.reserved) },
    { key: 'remaining', label: t('lots.left'), right: true, cell: (l) => number(l.remaining) },
  ]
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => day(new Date(from + share * (to - from)).toISOString()))
  return html`<section class="panel"><p class="small">${t('lots.legend')}</p>
    <div class="ends ticks small" aria-hidden="true">${ticks.map((name) => html`<span>${name}</span>`)}</div>
    <div class="lots" aria-hidden="true"><u style=${{ left: place(at) + '%' }}></u>${bars.map((l) => {
      const left = place(Date.parse(l.earned_at))
      const right = place(l.expires_at ? Date.parse(l.expires_at) : to)
      return html`<div class="lot"><i style=${{ left: left + '%', width: Math.max(0.5, right - left) + '%' }}>${parts(l)}</i><span style=${{ left: Math.min(left, 80) + '%' }}>${number(l.remaining)} / ${number(l.points)}</span></div>`
    })}</div>
    </section><h2>${t('lots.order')}</h2>
    <${Table} answer=${{ data: lots }} columns=${columns} name="lots" links=${false} />`
}
