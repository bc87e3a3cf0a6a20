// The requests of this server in the last hour, and how many of them went wrong.
import { html } from '../ui.js'
import { t, tick, time } from '../words.js'
import { get } from '../api.js'
import { useLoad } from '../load.js'
import { Loaded } from './state.js'
import { Chart } from './chart.js'

export function Pace() {
  const counted = useLoad(() => get('/admin/requests/minutes'))
  return html`<${Loaded} of=${counted}>${({ data }) => {
    const rows = data.minutes.map((m) => ({ at: Date.parse(m.at) / 1000, label: tick(Date.parse(m.at) / 1000, 60), values: [m.requests, m.refused, m.failed] }))
    return html`<div class="panel"><${Chart} title=${t('requests.hour')} height=${160} rows=${rows} series=${['all', 'refused', 'failed'].map((s) => ({ label: t('requests.' + s) }))} />
      <p class="small">${t('requests.whose', { at: time(data.since) })}</p></div>`
  }}</${Loaded}>`
}
