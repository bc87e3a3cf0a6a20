// Levels as ladders, and the board.
import { html } from '../ui.js'
import { t, number } from '../words.js'
import { get, can, id } from '../api.js'
import { useLoad } from '../load.js'
import { Loaded, Title, Empty } from '../part/state.js'
import { Table } from '../part/table.js'

export default function Levels({ place }) {
  const { cursor, offset } = place.query
  const levels = useLoad(() => get('/levels', { limit: 100 }))
  const board = useLoad(() => get('/customers/leaderboard', { limit: 20, cursor, offset }), [cursor, offset])
  const columns = [
    { key: 'rank', label: t('rank'), right: true, cell: (r) => number(r.rank) },
    { key: 'handler', label: t('customer.name'), cell: (r) => r.handler || '–' },
    { key: 'id', label: t('customer.id'), cell: (r) => (r.id ? html`<a href=${'#/customer/' + id(r.id) + '?tab=progress'}><code>${r.id}</code></a>` : '–') },
    { key: 'score', label: t('points.score'), right: true, cell: (r) => number(r.score) },
  ]
  return html`<${Title} text=${t('nav.levels')}><a class="button" href="#/programme?type=tiers/tier">${t('edit')}</a>${can('createEntity') && html`<a class="button primary" href="#/entity/tiers/tier">${t('new.tiers/tier')}</a>`}</${Title}>
    <div class="split"><section><h2>${t('level.ladders')}</h2><${Loaded} of=${levels}>${({ data }) => html`<${Ladders} levels=${data} />`}</${Loaded}></section>
    <section><h2>${t('level.board')}</h2><${Loaded} of=${board}>${(d) => html`<${Table} answer=${d} columns=${columns} name="board" />`}</${Loaded}></section></div>`
}

function Ladders({ levels }) {
  if (!levels.length) return html`<${Empty} text=${t('level.none')}><a class="button" href="#/entity/tiers/structure">${t('new.tiers/structure')}</a></${Empty}>`
  const structures = [...new Set(levels.map((l) => l.structure.id))]
  return structures.map((s) => {
    const steps = levels.filter((l) => l.structure.id === s).sort((a, b) => b.threshold - a.threshold)
    return html`<h3>${steps[0].structure.name} <span class="small">${steps[0].structure.base}</span></h3>
      <ol class="rules" reversed>${steps.map((l) => html`<li class="rule" ><header><strong>${l.name}</strong><span>≥ ${number(l.threshold)}</span></header>
        ${Object.entries(l.benefits || {}).map(([k, v]) => html`<span class="small">${k}: ${String(v)} </span>`)}</li>`)}</ol>`
  })
}
