// The requests of this server in the last hour, and how many of them failed.
import { html } from '../ui.js'
import { t, number, tick } from '../words.js'
import { get } from '../api.js'
import { useLoad } from '../load.js'
import { Loaded } from './state.js'
import { Chart } from './chart.js'
import { Card } from './figures.js'
import { Spark } from './spark.js'
import { Since } from './when.js'

// Rate is the rate of requests per minute in the last five full minutes, and the number of failures in the hour.
export function Rate({ of }) {
  const whole = of.minutes.slice(-6, -1)
  const rate = whole.reduce((n, m) => n + m.requests, 0) / (whole.length || 1)
  const failed = of.minutes.reduce((n, m) => n + m.failed, 0)
  return html`<${Card} label=${t('requests.rate')} value=${number(rate, rate < 10 ? 1 : 0)} note=${t('requests.wrong', { n: failed })} to="/administration?tab=system"><${Spark} values=${of.minutes.map((m) => m.requests)} /></${Card}>`
}

export function Pace() {
  const counted = useLoad(() => get('/admin/requests/minutes'))
  return html`<${Loaded} of=${counted}>${({ data }) => {
    const rows = data.minutes.map((m) => ({ at: Date.parse(m.at) / 1000, label: tick(Date.parse(m.at) / 1000, 60), values: [m.requests, m.refused, m.failed] }))
    return html`<div class="panel"><${Chart} title=${t('requests.hour')} height=${160} rows=${rows} series=${['all', 'refused', 'failed'].map((s) => ({ label: t('requests.' + s) }))} />
      <p class="small"><${Since} at=${data.since} say=${(at) => t('requests.whose', { at })} /></p></div>`
  }}</${Loaded}>`
}
