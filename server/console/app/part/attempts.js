// The attempts of a webhook in the last hour: their results, and how long the address took.
import { html } from '../ui.js'
import { t, tick } from '../words.js'
import { get } from '../api.js'
import { useLoad } from '../load.js'
import { Loaded } from './state.js'
import { Chart } from './chart.js'

export function Attempts({ path, turn }) {
  const counted = useLoad(() => get(path + '/attempts'), [path, turn])
  return html`<${Loaded} of=${counted}>${({ data }) => {
    const rows = (figures) => data.minutes.map((m) => ({ at: Date.parse(m.at) / 1000, label: tick(Date.parse(m.at) / 1000, 60), values: figures(m) }))
    const some = data.minutes.some((m) => m.delivered + m.refused + m.unanswered)
    return some
      ? html`<div class="panel"><${Chart} title=${t('webhook.hour')} height=${160} rows=${rows((m) => [m.delivered, m.refused, m.unanswered])}
            series=${['delivered', 'refused', 'unanswered'].map((s) => ({ label: t('webhook.' + s) }))} /></div>
          <div class="panel"><${Chart} title=${t('webhook.took')} height=${160} digits=${3} rows=${rows((m) => [m.median ?? null, m.p95 ?? null])}
            series=${[{ label: t('webhook.median') }, { label: t('webhook.p95'), faint: true }]} /></div>`
      : html`<p class="small">${t('webhook.idle')}</p>`
  }}</${Loaded}>`
}
