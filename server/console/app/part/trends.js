// Points earned, spent and expired: the last seven days against the seven before, and three lines over 90 days.
import { html } from '../ui.js'
import { t, number, ago } from '../words.js'
import { get, can } from '../api.js'
import { useLoad } from '../load.js'
import { Failure } from './state.js'
import { Chart } from './chart.js'
import { Card } from './figures.js'
import { Spark } from './spark.js'

const metrics = ['points_earned', 'points_burned', 'points_expired']
const sum = (values) => values.reduce((a, v) => a + (v || 0), 0)
const valuesOf = (d) => d.series[0]?.values || d.periods.map(() => 0)

// useTrends reads them, and for each day the number of customers active in 30 days.
export function useTrends() {
  return useLoad(() => (can('getStatistics') ? Promise.all([...metrics, 'active_customers'].map((metric) => get('/admin/statistics', { metric, interval: 'day', from: ago(90), to: ago(0) }).then((a) => a.data))) : null))
}

// activeOf is the number of customers active in the 30 days before the last figures.
export const activeOf = (trends) => trends.data && valuesOf(trends.data[3]).filter((v) => v != null).at(-1)

// Sums are the cards; without statistics they show the ledger's totals of all time.
export function Sums({ trends, totals }) {
  if (trends.loading && !trends.data) return metrics.map((metric) => html`<div class="card loading"><span>${t('trend.' + metric)}</span><b aria-hidden="true">…</b></div>`)
  if (!trends.data) return ['earned', 'spent', 'expired'].map((f) => html`<${Card} label=${t('points.' + f)} value=${number(totals[f])} />`)
  return metrics.map((metric, i) => {
    const v = valuesOf(trends.data[i])
    return html`<${Card} label=${t('trend.' + metric)} value=${number(sum(v.slice(-7)))} note=${t('trend.before', { today: v.at(-1) || 0, n: sum(v.slice(-14, -7)) })}><${Spark} values=${v.slice(-30)} /></${Card}>`
  })
}

export function Trends({ trends }) {
  if (trends.error) return html`<${Failure} error=${trends.error} again=${trends.again} />`
  if (!trends.data) return null
  const [first] = trends.data
  const rows = first.periods.map((p, i) => ({ at: Date.parse(p + 'T00:00:00Z') / 1000, label: p, values: metrics.map((_, n) => valuesOf(trends.data[n])[i]) }))
  return html`${!first.complete && html`<p class="small">${t('statistics.behind', { n: first.behind })}</p>`}
    <div class="panel"><${Chart} title=${t('trend.title')} rows=${rows} series=${metrics.map((m) => ({ label: t('points.' + m.slice(7)) }))} /></div>`
}
