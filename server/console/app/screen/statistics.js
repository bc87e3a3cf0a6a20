// Figures of the programme by day, week or month, broken down, against an earlier range.
import { html, useState, useEffect } from '../ui.js'
import { t, has, number, money, time, day, ago } from '../words.js'
import { get, documentOf } from '../api.js'
import { filter } from '../router.js'
import { useLoad } from '../load.js'
import { Loaded, Title, Empty } from '../part/state.js'
import { Chart } from '../part/chart.js'
import { Table } from '../part/table.js'
import { Cohorts } from '../part/cohorts.js'

const parts = ['joined', 'store', 'channel', 'reward', 'campaign', 'tier', 'currency', 'pool', 'code']
const firstOf = (months) => { const d = new Date(ago(0)); d.setUTCMonth(d.getUTCMonth() - months, 1); return d.toISOString().slice(0, 10) }
const seconds = (day) => Date.parse(day + 'T00:00:00Z') / 1000

// figure writes a value in its unit.
export const figure = (v, unit, currency) => (v == null ? '–' : unit === 'money' ? money(v, currency) : unit === 'ratio' ? number(v * 100, 1) + ' %' : number(v))
export const nameOf = (s, metric) => [s.name === '' ? t('statistics.unnamed') : s.name, s.currency].filter(Boolean).join(' · ') || metric

const digits = { money: 2, ratio: 1 }
// measured names a metric and the unit of its axis.
function measured({ metric, unit, series }) {
  const currencies = [...new Set(series.map((s) => s.currency))]
  const what = unit === 'ratio' ? '%' : unit === 'money' && currencies.length === 1 ? currencies[0] : ''
  return what ? `${named(metric)} (${what})` : named(metric)
}

const named = (metric) => (has('metric.' + metric) ? t('metric.' + metric) : metric)

export default function Statistics({ place }) {
  const doc = useLoad(() => documentOf('administration'))
  return html`<${Title} text=${t('nav.statistics')} /><${Loaded} of=${doc}>${(d) => html`<${Figures} metrics=${d.components.schemas.Statistics.allOf[0].properties.metric.enum} q=${place.query} />`}</${Loaded}>`
}

function Figures({ metrics, q }) {
  const grid = q.by === 'joined' // a cohort is shown by months
  const asked = { metric: q.metric || 'points_earned', by: q.by, interval: grid ? 'month' : q.interval || 'day', from: q.from || (grid ? firstOf(11) : ago(90)), to: q.to || ago(0), compare: grid ? undefined : q.compare }
  const [typed, type] = useState({}) // stays while figures load
  useEffect(() => type({}), [JSON.stringify(asked)])
  const now = { ...asked, ...typed }
  const all = useLoad(async () => {
    const [{ data }, joined] = await Promise.all([get('/admin/statistics', asked), grid ? get('/admin/statistics', { ...asked, metric: 'enrolments' }) : null])
    return { data, sizes: joined && Object.fromEntries(joined.data.series.map((s) => [s.name, s.total])) }
  }, [JSON.stringify(asked)])
  return html`<form class="filters" onChange=${({ target: f }) => type((was) => ({ ...was, [f.name]: f.type === 'checkbox' ? f.checked && f.value : f.value }))} onSubmit=${(e) => (e.preventDefault(), filter({ compare: '', ...Object.fromEntries(new FormData(e.target)) }))}>
      <label>${t('statistics.metric')}<select name="metric" value=${now.metric} onChange=${(e) => filter({ metric: e.target.value, by: '' })}>${metrics.map((m) => html`<option value=${m}>${named(m)}</option>`)}</select></label>
      <label>${t('statistics.by')}<select name="by" value=${now.by || ''}><option value="">–</option>${parts.map((p) => html`<option value=${p}>${t('part.' + p)}</option>`)}</select></label>
      <label>${t('statistics.interval')}<select name="interval" value=${now.interval}>${['day', 'week', 'month'].map((i) => html`<option value=${i}>${t('statistics.' + i)}</option>`)}</select></label>
      <label>${t('from')}<input type="date" name="from" value=${now.from} /></label><label>${t('to')}<input type="date" name="to" value=${now.to} /></label>
      <div class="actions"><label class="check"><input type="checkbox" name="compare" value="previous" checked=${now.compare === 'previous'} /> ${t('statistics.compare')}</label><button>${t('show')}</button></div>
    </form>
    <${Loaded} of=${all}>${({ data, sizes }) => html`<${Shown} data=${data} sizes=${sizes} />`}</${Loaded}>`
}

function Shown({ data, sizes }) {
  if (!data.series.length) return html`<${Empty} text=${t('statistics.none')} />`
  const before = data.compare?.series || []
  const earlier = (s) => before.find((b) => b.name === s.name && b.currency === s.currency)
  const shown = data.series.slice(0, 8)
  const old = shown.map(earlier).filter(Boolean).slice(0, 2) // more than two earlier lines cannot be told apart
  const lines = [...shown.map((s) => ({ label: nameOf(s, named(data.metric)) })), ...old.map((s) => ({ label: nameOf(s, named(data.metric)) + ' · ' + t('statistics.earlier'), faint: true }))]
  const times = data.unit === 'ratio' ? 100 : 1
  const drawn = (v) => (v == null ? null : v * times)
  const rows = data.periods.map((p, i) => ({ at: seconds(data.interval === 'month' ? p.slice(0, 7) + '-01' : p), label: p, values: [...shown, ...old].map((s) => drawn(s.values[i])) }))
  const change = (s) => {
    const b = earlier(s)?.total
    return b ? number((100 * (s.total - b)) / b, 1) + ' %' : '–'
  }
  const columns = [
    { key: 'name', label: data.by ? t('part.' + data.by) : t('statistics.metric'), cell: (s) => nameOf(s, named(data.metric)), text: (s) => nameOf(s, data.metric) },
    { key: 'total', label: t('statistics.total'), right: true, cell: (s) => figure(s.total, data.unit, s.currency), text: (s) => s.total },
    ...(data.compare ? [
      { key: 'before', label: t('statistics.earlier'), right: true, cell: (s) => figure(earlier(s)?.total, data.unit, s.currency), text: (s) => earlier(s)?.total },
      { key: 'change', label: t('statistics.change'), right: true, cell: change, text: change },
    ] : []),
  ]
  return html`${sizes && html`<${Cohorts} data=${data} name=${named(data.metric)} figure=${figure} sizes=${sizes} />`}<div class="panel"><${Chart} title=${measured(data)} rows=${rows} series=${lines} kind=${data.interval === 'month' && lines.length === 1 ? 'bars' : 'lines'} height=${280} digits=${digits[data.unit]} /></div>
    <${Table} answer=${{ data: data.series }} columns=${columns} name=${data.metric} links=${false} />
    ${data.compare && html`<p class="small">${t('statistics.against', { from: day(data.compare.from), to: day(data.compare.to) })}</p>`}<p class="small">${data.time_zone} · ${time(data.at)}${data.photographed_at ? ' · ' + t('statistics.photographed', { at: time(data.photographed_at) }) : ''}${data.complete ? '' : ' · ' + t('statistics.behind', { n: data.behind })}</p>`
}
