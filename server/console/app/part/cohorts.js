// Cohorts: customers by the month in which they joined, and their activity in each month since. The colours only repeat
// the figures.
import { html } from '../ui.js'
import { t, number } from '../words.js'

const count = (month) => Number(month.slice(0, 4)) * 12 + Number(month.slice(5, 7))

// Cohorts shows the cohorts that joined within the range; of older ones the range lacks the first months. figure writes
// a value; sizes is how many customers joined, by month.
export function Cohorts({ data, name, figure, sizes }) {
  const months = data.periods.map((p) => p.slice(0, 7))
  const rows = data.series.filter((s) => s.name >= months[0]).sort((a, b) => (a.name + (a.currency || '')).localeCompare(b.name + (b.currency || '')))
  const value = (s, k) => s.values[months.findIndex((m) => count(m) - count(s.name) === k)]
  const most = Math.max(1, ...rows.flatMap((s) => s.values.map(Number)))
  const shade = (v) => ({ background: `color-mix(in srgb, var(--accent) ${Math.round((Math.max(0, v || 0) / most) * 30)}%, transparent)` })
  return html`<div class="scroll" tabindex="0" role="group" aria-label=${t('cohort.title')}>
    <table class="cohorts"><caption>${t('cohort.title')} · ${name}</caption>
      <thead><tr><th scope="col">${t('part.joined')}</th><th scope="col" class="right">${t('cohort.size')}</th>${months.map((_, k) => html`<th scope="col" class="right">${k ? t('cohort.after', { n: k }) : t('cohort.first')}</th>`)}</tr></thead>
      <tbody>${rows.map((s) => html`<tr><th scope="row">${[s.name, s.currency].filter(Boolean).join(' · ')}</th><td class="right">${number(sizes[s.name] ?? 0)}</td>
        ${months.map((_, k) => { const v = value(s, k); return v === undefined ? html`<td></td>` : html`<td class="right" style=${shade(v)}>${figure(v, data.unit, s.currency)}</td>` })}</tr>`)}</tbody>
    </table></div>`
}
