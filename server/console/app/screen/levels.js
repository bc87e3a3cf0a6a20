// Levels as ladders, and the board.
import { html } from '../ui.js'
import { t, number, time, ago } from '../words.js'
import { get, can, id } from '../api.js'
import { filter } from '../router.js'
import { useLoad } from '../load.js'
import { Loaded, Title, Empty } from '../part/state.js'
import { choice } from '../form/labels.js'
import { Table } from '../part/table.js'
import { Soon } from '../part/soon.js'
import { Scores } from '../part/scores.js'

const periods = ['all', 'year', 'month', 'week', 'day']

export default function Levels({ place }) {
  const { cursor, offset, period, customer } = place.query
  const levels = useLoad(() => get('/levels', { limit: 100 }))
  const reached = useLoad(() => (can('getStatistics') ? members() : null))
  const board = useLoad(() => get('/customers/leaderboard', { limit: 20, cursor, offset, period }), [cursor, offset, period])
  const columns = [
    { key: 'rank', label: t('rank'), right: true, cell: (r) => number(r.rank) },
    { key: 'handler', label: t('customer.name'), cell: (r) => r.handler || '–' },
    { key: 'id', label: t('customer.id'), cell: (r) => (r.id ? html`<a href=${'#/customer/' + id(r.id) + '?tab=progress'}><code>${r.id}</code></a>` : '–') },
    { key: 'score', label: t('points.score'), right: true, cell: (r) => number(r.score) },
  ]
  return html`<${Title} text=${t('nav.levels')}><a class="button" href="#/programme?type=tiers/tier">${t('edit')}</a>${can('createEntity') && html`<a class="button primary" href="#/entity/tiers/tier">${t('new.tiers/tier')}</a>`}</${Title}>
    <div class="split"><section><h2>${t('level.ladders')}</h2><${Loaded} of=${levels}>${({ data }) => html`<${Ladders} levels=${data} reached=${reached.data} />
      ${can('listRisingCustomers') && data.length > 0 && html`<${Soon} structures=${structuresOf(data)} place=${place} />`}`}</${Loaded}></section>
    <section class="board"><h2>${t('level.board')}</h2>
      <form class="filters" onSubmit=${(e) => (e.preventDefault(), filter({ cursor: '', offset: '', ...Object.fromEntries(new FormData(e.target)) }))}>
        <label>${t('period')}<select name="period" value=${period || 'all'}>${periods.map((n) => html`<option value=${n}>${t('period.' + n)}</option>`)}</select></label>
        <label>${t('customer.id')}<input name="customer" value=${customer || ''} /></label><button>${t('show')}</button></form>
      <${Scores} period=${period || 'all'} />
      ${customer && html`<${Standing} key=${customer + period} who=${customer} period=${period} columns=${columns} />`}<${Loaded} of=${board}>${(d) => html`<${Table} answer=${d} columns=${columns} name="board" empty=${html`<${Empty} text=${t('level.board.none')} />`} />`}</${Loaded}></section></div>`
}

// Standing is the rank of one customer, with the neighbours.
function Standing({ who, period, columns }) {
  const one = useLoad(() => get(`/customers/${id(who)}/leaderboard`, { period, neighbours: 3 }), [who, period])
  return html`<div class="panel standing"><${Loaded} of=${one}>${({ data }) => html`<p>${t('rank')}: <strong>${data.rank ? number(data.rank) : '–'}</strong> · ${t('points.score')} ${number(data.score)}</p>
    ${data.neighbours.length > 0 && html`<${Table} answer=${{ data: data.neighbours }} columns=${columns} name="neighbours" links=${false} />`}`}</${Loaded}></div>`
}

// members are how many customers were on each level at the last snapshot of the figures.
async function members() {
  const { data } = await get('/admin/statistics', { metric: 'members_by_tier', by: 'tier', interval: 'week', from: ago(7), to: ago(0) })
  return data.photographed_at && { at: data.photographed_at, of: Object.fromEntries(data.series.map((s) => [s.name, s.total])) }
}

// structuresOf are the ladders that levels belong to.
const structuresOf = (levels) => [...new Map(levels.map((l) => [l.structure.id, l.structure])).values()]

function Ladders({ levels, reached }) {
  if (!levels.length) return html`<${Empty} text=${t('level.none')}><a class="button" href="#/entity/tiers/structure">${t('new.tiers/structure')}</a></${Empty}>`
  const structures = [...new Set(levels.map((l) => l.structure.id))]
  return structures.map((s) => {
    const steps = levels.filter((l) => l.structure.id === s).sort((a, b) => b.threshold - a.threshold)
    return html`<h3><bdi>${steps[0].structure.name}</bdi> <span class="small">${choice(steps[0].structure.base)}</span></h3>
      <ol class="rules" reversed>${steps.map((l) => html`<li class="rule" ><header><strong>${l.name}</strong><span>≥ ${number(l.threshold)}</span></header>
        ${reached && html`<a class="small members" href=${'#/customers?tier=' + id(l.id)} title=${time(reached.at)}>${t('level.members', { n: number(reached.of[l.id] ?? 0) })}</a> `}
        ${Object.entries(l.benefits || {}).map(([k, v]) => html`<span class="badge"><bdi>${k.replaceAll('_', ' ')}</bdi>: <bdi>${v === true ? t('yes') : v === false ? t('no') : String(v)}</bdi></span> `)}</li>`)}</ol>`
  })
}
