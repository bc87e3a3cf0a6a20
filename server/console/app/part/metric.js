// One figure of the statistics over the last 90 days, drawn where it belongs.
import { html } from '../ui.js'
import { get } from '../api.js'
import { useLoad } from '../load.js'
import { ago } from '../words.js'
import { Chart } from './chart.js'

// Metric draws a metric; only selects one of its parts. It shows nothing if nothing was counted.
export function Metric({ metric, by, only, title }) {
  const all = useLoad(() => get('/admin/statistics', { metric, by, interval: 'day', from: ago(90), to: ago(0) }), [metric, by])
  const data = all.data?.data
  const one = data?.series.find((s) => !only || s.name === only)
  if (!one) return null
  const rows = data.periods.map((p, i) => ({ at: Date.parse(p + 'T00:00:00Z') / 1000, label: p, values: [one.values[i]] }))
  return html`<div class="panel"><${Chart} title=${title} rows=${rows} series=${[{ label: title }]} kind="bars" height=${160} /></div>`
}
