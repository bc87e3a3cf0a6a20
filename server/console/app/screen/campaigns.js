// Campaigns: what each has given, and what one would have given: a backtest over the past.
import { html, useState } from '../ui.js'
import { t, number, day } from '../words.js'
import { get, post, can, id } from '../api.js'
import { filter } from '../router.js'
import { useLoad } from '../load.js'
import { Loaded, Title, Failure, Empty } from '../part/state.js'
import { Table } from '../part/table.js'
import { Badge, Card } from '../part/figures.js'

export default function Campaigns({ place }) {
  const name = place.parts[1]
  return name ? html`<${Campaign} name=${name} />` : html`<${All} place=${place} />`
}

function All({ place }) {
  const { status, cursor, offset } = place.query
  const all = useLoad(() => get('/automation/campaigns', { limit: 50, status, cursor, offset }), [status, cursor, offset])
  const columns = [
    { key: 'name', label: t('name'), cell: (c) => html`<a href=${'#/campaigns/' + id(c.id)}>${c.name}</a>` },
    { key: 'status', label: t('status'), cell: (c) => html`<${Badge} state=${c.status} />` },
    { key: 'trigger', label: t('campaign.trigger'), cell: (c) => html`<code>${c.trigger}</code>` },
    { key: 'condition', label: t('campaign.condition'), cell: (c) => (c.condition ? html`<code>${c.condition}</code>` : '–') },
    { key: 'effects', label: t('campaign.effects'), cell: (c) => c.effects.map((e) => e.type).join(', '), text: (c) => c.effects.map((e) => e.type).join(', ') },
  ]
  return html`<${Title} text=${t('nav.campaigns')}>${can('createEntity') && html`<a href="#/entity/automation/campaign">${t('campaign.new')}</a>`}</${Title}>
    <div class="tabs">${['', 'active', 'scheduled', 'paused', 'completed', 'draft'].map((s) => html`<button aria-pressed=${(status || '') === s} onClick=${() => filter({ status: s })}>${s || t('all')}</button>`)}</div>
    <${Loaded} of=${all}>${(d) => html`<${Table} answer=${d} columns=${columns} to=${(c) => '/campaigns/' + id(c.id)} name="campaigns"
      empty=${html`<${Empty} text=${t('campaign.none')}>${can('createEntity') && html`<p><a href="#/entity/automation/campaign">${t('campaign.new')}</a></p>`}<code>loyalty demo</code></${Empty}>`} />`}</${Loaded}>`
}

function Campaign({ name }) {
  const all = useLoad(async () => {
    const [campaign, figures] = await Promise.all([get('/automation/campaigns/' + id(name)), get(`/automation/campaigns/${id(name)}/statistics`)])
    return { c: campaign.data ?? campaign, s: figures.data }
  }, [name])
  return html`<${Loaded} of=${all}>${({ c, s }) => html`<${Title} text=${c.name}><${Badge} state=${c.status} /><a href=${'#/entity/automation/campaign/' + id(name)}>${t('edit')}</a></${Title}>
    <p><code>${c.trigger}</code> ${c.condition && html`<code>${c.condition}</code>`}</p>
    <div class="cards">${['runs', 'customers', 'net', 'points', 'taken_back', 'coupons'].map((f) => html`<${Card} label=${t('campaign.' + f)} value=${number(s[f])} />`)}<${Card} label=${t('campaign.last')} value=${day(s.last_at)} /></div>
    <pre>${JSON.stringify(c.effects, null, 2)}</pre>
    ${can('startBacktest') && html`<${Backtest} name=${name} />`}`}</${Loaded}>`
}

function Backtest({ name }) {
  const [state, set] = useState({})
  const send = async (e) => {
    e.preventDefault()
    const f = e.target.elements
    try {
      set({ running: true })
      let now = (await post(`/automation/campaigns/${id(name)}/backtest`, { from: f.from.value + 'T00:00:00Z', to: f.to.value + 'T00:00:00Z' })).data
      while (now.status !== 'done') {
        set({ running: true, now })
        await new Promise((go) => setTimeout(go, 1000))
        now = (await get(`/automation/campaigns/${id(name)}/backtest/${now.batch_id}`)).data
      }
      set({ now })
    } catch (error) {
      set({ error })
    }
  }
  const ago = (days) => new Date(Date.now() - days * 86400000).toISOString().slice(0, 10)
  return html`<h2>${t('campaign.backtest')}</h2><p class="small">${t('campaign.backtest.text')}</p>
    <form class="filters" onSubmit=${send}><label>${t('from')}<input type="date" name="from" value=${ago(90)} required /></label><label>${t('to')}<input type="date" name="to" value=${ago(0)} required /></label><button class="primary" disabled=${state.running}>${t('campaign.try')}</button></form>
    ${state.error && html`<${Failure} error=${state.error} />`}
    ${state.now && html`<div aria-live="polite"><${Badge} state=${state.now.status} /><div class="cards">${['done', 'total', 'events', 'winners', 'points', 'coupons'].map((f) => html`<${Card} label=${t('campaign.test.' + f)} value=${number(state.now[f])} />`)}</div></div>`}`
}
