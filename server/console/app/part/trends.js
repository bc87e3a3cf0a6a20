// Three lines over 90 days, and the last seven days against the seven before.
import { html } from '../ui.js'
import { t, number, ago } from '../words.js'
import { get } from '../api.js'
import { useLoad } from '../load.js'
import { Loaded } from './state.js'
import { Chart } from './chart.js'
import { Card } from './figures.js'

const metrics = ['points_earned', 'points_burned', 'points_expired']
const sum = (values) => values.reduce((a, v) => a + (v || 0), 0)

export function Trends() {
  const all = useLoad(() => Promise.all(metrics.map((metric) => get('/admin/statistics', { metric, interval: 'day', from: ago(90), to: ago(0) }).then((a) => a.data))))
  return html`<${Loaded} of=${all}>${(data) => {
    const values = (d) => d.series[0]?.values || d.periods.map(() => 0)
    const rows = data[0].periods.map((p, i) => ({ at: Date.parse(p + 'T00:00:00Z') / 1000, label: p, values: data.map((d) => values(d)[i]) }))
    return html`<div class="cards">${data.map((d) => {
        const v = values(d)
        const last = sum(v.slice(-7))
        const before = sum(v.slice(-14, -7))
        return html`<${Card} label=${t('trend.' + d.metric)} value=${number(last)} note=${t('trend.before', { n: before })} />`
      })}</div>
      ${!data[0].complete && html`<p class="small">${t('statistics.behind', { n: data[0].behind })}</p>`}
      <div class="panel"><${Chart} title=${t('trend.title')} rows=${rows} series=${metrics.map((m) => ({ label: t('points.' + m.slice(7)) }))} /></div>`
  }}</${Loaded}>`
}
