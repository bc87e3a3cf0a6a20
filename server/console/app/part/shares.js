// The parts of a whole as bars, with a table of the same figures under them.
import { html } from '../ui.js'
import { t, number } from '../words.js'
import { Empty } from './state.js'
import { Table } from './table.js'

// Shares draws rows {name, points, lots}, the greatest first. name is the file name of the table.
export function Shares({ rows, first, name }) {
  const whole = rows.reduce((sum, r) => sum + r.points, 0)
  const share = (r) => (whole ? r.points / whole : 0)
  const columns = [
    { key: 'name', label: first },
    { key: 'points', label: t('points'), right: true, cell: (r) => number(r.points) },
    { key: 'share', label: t('ledger.share'), right: true, cell: (r) => number(100 * share(r), 1) + ' %', text: share },
    { key: 'lots', label: t('ledger.lots'), right: true, cell: (r) => number(r.lots) },
  ]
  if (!rows.length) return html`<${Empty} text=${t('ledger.nothing')} />`
  return html`<figure class="panel"><div class="lots" aria-hidden="true">${rows.map((r) => html`<div class="lot"><i style=${{ left: 0, width: 100 * share(r) + '%' }}></i><span>${r.name}</span></div>`)}</div></figure>
    <${Table} answer=${{ data: rows }} columns=${columns} name=${name} links=${false} />`
}
