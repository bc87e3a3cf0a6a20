// How the scores of a board are distributed: a bar for each band, with the same figures as a table under them.
import { html } from '../ui.js'
import { t, number } from '../words.js'
import { get } from '../api.js'
import { useLoad } from '../load.js'

export function Scores({ period }) {
  const all = useLoad(() => get('/customers/leaderboard/scores', { period, bands: 20 }), [period])
  const bands = all.data?.data.bands
  if (!bands?.length) return null // the board itself explains why there is none
  const most = Math.max(...bands.map((b) => b.customers))
  const name = (b) => `${number(b.from)} – ${number(b.to)}`
  return html`<figure class="panel scores"><figcaption>${t('scores.title')}</figcaption>
    <div class="bars" aria-hidden="true">${bands.map((b) => html`<span class=${b.customers ? '' : 'none'} title=${`${name(b)}: ${number(b.customers)}`} style=${{ height: (100 * b.customers) / most + '%' }}></span>`)}</div>
    <div class="ends small" aria-hidden="true"><span>${number(bands[0].from)}</span><span>${number(bands.at(-1).to)}</span></div>
    <details class="data"><summary>${t('chart.table')}</summary>
      <div class="scroll" tabindex="0" role="group" aria-label=${t('chart.table')}><table><thead><tr><th scope="col">${t('scores.band')}</th><th scope="col" class="right">${t('scores.customers')}</th></tr></thead>
      <tbody>${bands.map((b) => html`<tr><th scope="row">${name(b)}</th><td class="right">${number(b.customers)}</td></tr>`)}</tbody></table></div></details></figure>`
}
