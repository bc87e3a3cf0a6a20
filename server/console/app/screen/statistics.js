// Figures of the programme by day, week or month, broken down, against an earlier range.
import { html } from '../ui.js'
import { t, number, money, time } from '../words.js'
import { get, documentOf } from '../api.js'
import { filter } from '../router.js'
import { useLoad } from '../load.js'
import { Loaded, Title, Empty } from '../part/state.js'
import { Chart } from '../part/chart.js'
import { Table } from '../part/table.js'

const parts = ['store', 'channel', 'reward', 'campaign', 'tier', 'currency', 'pool', 'code']
const ago = (days) => new Date(Date.now() - days * 86400000).toISOString().slice(0, 10)
const seconds = (day) => Date.parse(day + 'T00:00:00Z') / 1000

// figure writes a value in its unit.
export const figure = (v, unit, currency) => (v == null ? '–' : unit === 'money' ? money(v, currency) : unit === 'ratio' ? number(v * 100, 1) + ' %' : number(v))
export const nameOf = (s, metric) => [s.name === '' ? t('statistics.unnamed') : s.name, s.currency].filter(Boolean).join(' · ') || metric

export default function Statistics({ place }) {
  const doc = useLoad(() => documentOf('administration'))
  return html`<${Title} text=${t('nav.statistics')} /><${Loaded} of=${doc}>${(d) => html`<${Figures} metrics=${d.components.schemas.Statistics.allOf[0].properties.metric.enum} q=${place.query} />`}</${Loaded}>`
}

function Figures({ metrics, q }) {
  const asked = { metric: q.metric || 'points_earned', by: q.by, interval: q.interval || 'day', from: q.from || ago(90), to: q.to || ago(0), compare: q.compare }
  const all = useLoad(() => get('/admin/statistics', asked), [JSON.stringify(asked)])
  return html`<form class="filters" onSubmit=${(e) => (e.preventDefault(), filter(Object.fromEntries(new FormData(e.target))))}>
      <label>${t('statistics.metric')}<select name="metric" value=${asked.metric} onChange=${(e) => filter({ metric: e.target.value, by: '' })}>${metrics.map((m) => html`<option value=${m}>${m}</option>`)}</select></label>
      <label>${t('statistics.by')}<select name="by" value=${asked.by || ''}><option value="">–</option>${parts.map((p) => html`<option value=${p}>${p}</option>`)}</select></label>
      <label>${t('statistics.interval')}<select name="interval" value=${asked.interval}>${['day', 'week', 'month'].map((i) => html`<option value=${i}>${t('statistics.' + i)}</option>`)}</select></label>
      <label>${t('from')}<input type="date" name="from" value=${asked.from} /></label><label>${t('to')}<input type="date" name="to" value=${asked.to} /></label><button>${t('show')}</button>
    </form>
    <${Loaded} of=${all}>${({ data }) => html`<${Shown} data=${data} />`}</${Loaded}>`
}

function Shown({ data }) {
  if (!data.series.length) return html`<${Empty} text=${t('statistics.none')} />`
  const lines = data.series.slice(0, 8).map((s) => ({ label: nameOf(s, data.metric) }))
  const rows = data.periods.map((p, i) => ({ at: seconds(p), label: p, values: data.series.slice(0, 8).map((s) => s.values[i]) }))
  const columns = [
    { key: 'name', label: data.by || data.metric, cell: (s) => nameOf(s, data.metric), text: (s) => nameOf(s, data.metric) },
    { key: 'total', label: t('statistics.total'), right: true, cell: (s) => figure(s.total, data.unit, s.currency) },
  ]
  return html`<${Chart} title=${data.metric} rows=${rows} series=${lines} height=${280} />
    <${Table} answer=${{ data: data.series }} columns=${columns} name=${data.metric} links=${false} />
    <p class="small">${data.time_zone} · ${time(data.at)}${data.photographed_at ? ' · ' + t('statistics.photographed', { at: time(data.photographed_at) }) : ''}${data.complete ? '' : ' · ' + t('statistics.behind', { n: data.behind })}</p>`
}
