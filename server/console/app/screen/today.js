// Today: what the programme comes to, and what waits.
import { html } from '../ui.js'
import { t, number, time } from '../words.js'
import { get, can } from '../api.js'
import { useLoad } from '../load.js'
import { Loaded, Title, Empty } from '../part/state.js'
import { Card } from '../part/figures.js'
import { Trends } from '../part/trends.js'

const maybe = (operation, read) => (can(operation) ? read().catch(() => null) : null)

export default function Today() {
  const all = useLoad(async () => {
    const [ledger, members, active, jobs, failed, campaigns] = await Promise.all([
      get('/admin/ledger'), maybe('countCustomers', () => get('/customers/-/count')), maybe('countCustomers', () => get('/customers/-/count', { status: 'active' })),
      maybe('listJobs', () => get('/admin/jobs')), maybe('listFailedRequests', () => get('/admin/requests/errors', { limit: 5 })), maybe('listCampaigns', () => get('/automation/campaigns', { status: 'active', limit: 100 })),
    ])
    return { ledger: ledger.data, members: members?.data.count, active: active?.data.count, jobs: jobs?.data, failed: failed?.data, campaigns: campaigns?.data }
  })
  return html`<${Title} text=${t('nav.today')} /><${Loaded} of=${all}>${(d) => html`<${Board} d=${d} />`}</${Loaded}>`
}

function Board({ d }) {
  const { totals } = d.ledger
  const late = (d.jobs || []).filter((j) => !j.running && j.next_run_at && new Date(j.next_run_at) < Date.now() - 60000)
  const most = Math.max(1, ...d.ledger.months.map((m) => m.points))
  return html`
    <div class="cards">
      ${d.members != null && html`<${Card} label=${t('today.members')} value=${number(d.members)} note=${d.active != null && t('today.active', { n: d.active })} />`}
      <${Card} label=${t('points.earned')} value=${number(totals.earned)} />
      <${Card} label=${t('points.spent')} value=${number(totals.spent)} />
      <${Card} label=${t('points.expired')} value=${number(totals.expired)} />
      <${Card} label=${t('points.outstanding')} value=${number(totals.outstanding)} note=${t('today.owed')} />
      ${d.campaigns && html`<${Card} label=${t('today.campaigns')} value=${number(d.campaigns.length)} />`}
    </div>
    ${can('getStatistics') && html`<${Trends} />`}
    <div class="split">
      <section><h2>${t('today.expires')}</h2>
        ${d.ledger.months.slice(0, 12).map((m) => html`<div><span class="small">${m.month || t('never')} · ${number(m.points)}</span><div class="meter"><i style=${{ width: (100 * m.points) / most + '%' }}></i></div></div>`)}
        ${!d.ledger.months.length && html`<${Empty} text=${t('today.nothing')}><code>loyalty demo</code></${Empty}>`}
        <p><a href="#/ledger">${t('nav.ledger')}</a></p>
      </section>
      <section><h2>${t('today.waits')}</h2>
        <ul>
          ${totals.pending > 0 && html`<li>${t('points.pending')}: ${number(totals.pending)}</li>`}
          ${totals.debt > 0 && html`<li>${t('points.debt')}: ${number(totals.debt)}</li>`}
          ${late.map((j) => html`<li class="wrong">${t('today.late', { name: j.name, at: time(j.next_run_at) })}</li>`)}
          ${(d.failed || []).map((f) => html`<li>${f.status} <code>${f.method} ${f.route || '–'}</code> <span class="small">${time(f.at)}</span></li>`)}
        </ul>
        ${!late.length && !totals.pending && !totals.debt && !d.failed?.length && html`<p>${t('today.calm')}</p>`}
      </section>
    </div>`
}
