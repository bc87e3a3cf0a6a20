// Campaigns: what each has given, when they run, and what one would have given: a backtest over the past.
import { html, useState } from '../ui.js'
import { t, number, day, ago, opensAt, closesAt } from '../words.js'
import { get, post, can, id } from '../api.js'
import { filter } from '../router.js'
import { useLoad } from '../load.js'
import { Loaded, Title, Failure, Empty } from '../part/state.js'
import { Table } from '../part/table.js'
import { Badge, Card } from '../part/figures.js'
import { Effects, told } from '../part/effects.js'
import { Calendar } from '../part/calendar.js'
import { Metric } from '../part/metric.js'
import { When } from '../part/when.js'
import { Basket } from '../part/basket.js'

export default function Campaigns({ place }) {
  const name = place.parts[1]
  return name ? html`<${Campaign} name=${name} />` : html`<${All} place=${place} />`
}

const states = ['', 'active', 'scheduled', 'paused', 'completed', 'draft']

function All({ place }) {
  const { status, offset, sort, order, view } = place.query
  const all = useLoad(() => get('/automation/campaigns', { include: 'statistics', limit: 50, status, offset, sort, order }), [status, offset, sort, order])
  const columns = [
    { key: 'name', label: t('name'), sort: 'name', cell: (c) => html`<a href=${'#/campaigns/' + id(c.id)}>${c.name}</a><div class="small about">${c.condition && html`<code class="wide">${c.condition}</code> → `}${told(c.effects)}</div>`, text: (c) => c.name },
    { key: 'status', label: t('status'), sort: 'status', cell: (c) => html`<${Badge} state=${c.status} />` },
    ...['runs', 'customers', 'net'].map((f) => ({ key: f, label: t('campaign.' + f), right: true, cell: (c) => number(c.statistics[f]), text: (c) => c.statistics[f] })),
    { key: 'budget', label: t('campaign.budget'), right: true, cell: (c) => html`<${Budget} of=${c.statistics.limits.total} />`, text: (c) => share(c.statistics.limits.total) },
    { key: 'trigger', label: t('campaign.trigger'), sort: 'trigger', cell: (c) => html`<code>${c.trigger}</code>` },
    { key: 'ends_at', label: t('entity.until'), sort: 'ends_at', cell: (c) => html`<${When} at=${c.ends_at} as=${day} />` },
  ]
  const make = can('createEntity') && html`<a class="button primary" href="#/entity/automation/campaign">${t('campaign.new')}</a>`
  return html`<${Title} text=${t('nav.campaigns')}>${make}</${Title}>
    <div class="tabs">${states.map((s) => html`<button aria-pressed=${view !== 'calendar' && (status || '') === s} onClick=${() => filter({ status: s, view: '' })}>${s ? t('state.' + s) : t('all')}</button>`)}<button aria-pressed=${view === 'calendar'} onClick=${() => filter({ view: 'calendar', status: '' })}>${t('calendar.title')}</button></div>
    ${view === 'calendar' ? html`<${Calendar} />` : html`<${Loaded} of=${all}>${(d) => html`<${Table} answer=${d} columns=${columns} to=${(c) => '/campaigns/' + id(c.id)} name="campaigns"
      empty=${html`<${Empty} text=${t('campaign.none')}>${!status && make}</${Empty}>`} />`}</${Loaded}>`}`
}

// share is how much of its limit over all customers a campaign has used; a campaign without a limit has none.
const share = (total) => (total ? number((100 * total.used) / total.limit, 1) + ' %' : '–')

const Budget = ({ of }) => (of ? html`<span title=${t('campaign.budget.of', { used: of.used, limit: of.limit })}>${share(of)}</span>` : '–')

function Campaign({ name }) {
  const all = useLoad(async () => {
    const [campaign, figures] = await Promise.all([get('/automation/campaigns/' + id(name)), get(`/automation/campaigns/${id(name)}/statistics`)])
    return { c: campaign.data ?? campaign, s: figures.data }
  }, [name])
  return html`<p class="crumb"><a href="#/campaigns">${t('nav.campaigns')}</a> ›</p><${Loaded} of=${all} title=${name}>${({ c, s }) => html`<${Title} text=${c.name}><${Badge} state=${c.status} />
      ${can('previewEvent') && html`<a class="button" href=${'#/tester?action=' + (c.trigger === 'checkout_item' ? 'checkout' : id(c.trigger))}>${t('campaign.purchase')}</a>`}<a class="button" data-edit href=${'#/entity/automation/campaign/' + id(name)}>${t('edit')}</a></${Title}>
    <div class="panel"><${Effects} of=${c} /></div>
    <div class="cards">${['runs', 'customers', 'net', 'points', 'taken_back', 'coupons'].map((f) => html`<${Card} label=${t('campaign.' + f)} value=${number(s[f])} />`)}<${Card} label=${t('campaign.last')} value=${html`<${When} at=${s.last_at} as=${day} />`} /></div>
    ${can('getStatistics') && html`<${Metric} metric="campaign_points" by="campaign" only=${name} title=${t('campaign.days')} /><${Metric} metric="campaign_runs" by="campaign" only=${name} title=${t('campaign.runs.days')} />`}
    ${c.trigger.startsWith('checkout') && can('previewCampaigns') && html`<${Basket} name=${name} />`}
    ${can('startBacktest') && html`<${Backtest} name=${name} />`}`}</${Loaded}>`
}

// given is how many points the campaign really gave on those days.
async function given(name, from, to) {
  const { data } = await get('/admin/statistics', { metric: 'campaign_points', by: 'campaign', interval: 'month', from, to })
  return data.series.find((s) => s.name === name)?.total ?? 0
}

function Backtest({ name }) {
  const [state, set] = useState({})
  const send = async (e) => {
    e.preventDefault()
    const f = e.target.elements
    try {
      set({ running: true })
      let now = (await post(`/automation/campaigns/${id(name)}/backtest`, { from: opensAt(f.from.value), to: closesAt(f.to.value) })).data
      while (now.status !== 'done') {
        set({ running: true, now })
        await new Promise((go) => setTimeout(go, 1000))
        now = (await get(`/automation/campaigns/${id(name)}/backtest/${now.batch_id}`)).data
      }
      set({ now, then: can('getStatistics') ? await given(name, f.from.value, f.to.value) : null })
    } catch (error) {
      set({ error })
    }
  }
  const { now } = state
  return html`<section class="panel"><h2>${t('campaign.backtest')}</h2><p class="soft">${t('campaign.backtest.text')}</p>
    <form class="filters" onSubmit=${send}><label>${t('from')}<input type="date" name="from" value=${ago(90)} required /></label><label>${t('to')}<input type="date" name="to" value=${ago(0)} required /></label><button class="primary" disabled=${state.running}>${t('campaign.try')}</button></form>
    ${state.error && html`<${Failure} error=${state.error} />`}
    ${now && html`<div aria-live="polite"><p><${Badge} state=${now.status} /> ${number(now.done)} / ${number(now.total)} ${t('campaign.test.total')}</p><div class="meter"><i style=${{ width: (100 * now.done) / (now.total || 1) + '%' }}></i></div><div class="cards">${['events', 'winners', 'points', 'coupons'].map((f) => html`<${Card} label=${t('campaign.test.' + f)} value=${number(now[f])} note=${f === 'points' && state.then != null && t('campaign.test.then', { n: state.then })} />`)}</div>${now.fault && html`<${Failure} error=${now.fault} />`}</div>`}</section>`
}
