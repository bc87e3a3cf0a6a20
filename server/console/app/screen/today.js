// Today: the figures of the programme, and open tasks; for a new programme, the first steps.
import { html } from '../ui.js'
import { t, number, money, month } from '../words.js'
import { get, can } from '../api.js'
import { useLoad } from '../load.js'
import { Loaded, Title, Empty } from '../part/state.js'
import { Card } from '../part/figures.js'
import { useTrends, activeOf, Sums, Trends } from '../part/trends.js'
import { Rate } from '../part/pace.js'
import { Proof, wrong } from '../part/system.js'
import { When, Since } from '../part/when.js'

const maybe = (operation, read) => (can(operation) ? read().catch(() => null) : null)

export default function Today() {
  const all = useLoad(async () => {
    const [ledger, members, active, jobs, failed, campaigns, rewards, hooks, system, pace] = await Promise.all([
      get('/admin/ledger'), maybe('countCustomers', () => get('/customers/-/count')), maybe('countCustomers', () => get('/customers/-/count', { status: 'active' })),
      maybe('listJobs', () => get('/admin/jobs')), maybe('listFailedRequests', () => get('/admin/requests/errors', { limit: 50 })), maybe('listCampaigns', () => get('/automation/campaigns', { limit: 100 })),
      maybe('listEntities', () => get('/entities/rewards/reward', { limit: 1 })), maybe('listWebhooks', () => get('/admin/webhooks', { limit: 100 })), maybe('getSystem', () => get('/admin/system')),
      maybe('countRequests', () => get('/admin/requests/minutes')),
    ])
    return { ledger: ledger.data, members: members?.data.count, active: active?.data.count, jobs: jobs?.data, failed: failed?.data, campaigns: campaigns?.data, rewards: rewards?.data, hooks: hooks?.data, system: system?.data, pace: pace?.data }
  })
  return html`<${Title} text=${t('nav.today')} /><${Loaded} of=${all}>${(d) => html`<${Board} d=${d} />`}</${Loaded}>`
}

// Steps lead from an empty programme to a purchase that earns; a step is done when what it makes exists.
function Steps({ d }) {
  const steps = [
    { name: 'reward', done: d.rewards?.length > 0, to: '/entity/rewards/reward?step=1' },
    { name: 'campaign', done: d.campaigns?.length > 0, to: '/entity/automation/campaign?step=2' },
    { name: 'try', done: d.members > 0, to: '/tester?action=checkout' },
  ]
  if (!can('createEntity') || steps.every((s) => s.done)) return null
  const next = steps.findIndex((s) => !s.done)
  return html`<section class="panel"><h2>${t('steps.title')}</h2><ol class="steps">${steps.map((s, i) => html`<li class=${s.done ? 'done' : ''}><span class="n">${s.done ? '✓' : i + 1}</span><strong>${t('steps.' + s.name)}</strong><p>${t('steps.' + s.name + '.text')}</p>
      <a class=${'button' + (i === next ? ' primary' : '')} href=${'#' + s.to}>${t('steps.' + s.name + '.do')}</a></li>`)}</ol>
    <p class="small">${t('steps.demo')} <code>loyalty demo</code></p></section>`
}

function Board({ d }) {
  const { totals } = d.ledger
  const quiet = !d.ledger.months.length && !totals.earned
  const trends = useTrends()
  const active = activeOf(trends)
  return html`<${Steps} d=${d} />
    <div class="cards even">
      ${d.members != null && html`<${Card} label=${t('today.members')} value=${number(d.members)} note=${active != null ? t('today.month', { n: active }) : d.active != null && t('today.active', { n: d.active })} to="/customers" />`}
      <${Sums} trends=${trends} totals=${totals} />
      <${Card} label=${t('points.outstanding')} value=${number(totals.outstanding)} note=${d.ledger.value ? t('today.value', { sum: money(d.ledger.value.outstanding, d.ledger.value.currency) }) : t('today.owed')} to="/ledger" />
      ${d.campaigns && html`<${Card} label=${t('today.campaigns')} value=${number(d.campaigns.filter((c) => c.status === 'active').length)} to="/campaigns" />`}
      ${d.hooks?.length > 0 && html`<${Card} label=${t('nav.webhooks')} value=${number(d.hooks.filter((h) => h.state === 'active').length)} note=${t('today.hooks', { waiting: sum(d.hooks, 'waiting'), dead: sum(d.hooks, 'dead') })} to="/webhooks" />`}
      ${d.pace && html`<${Rate} of=${d.pace} />`}
      ${d.system && html`<${Card} label=${t('admin.system')} value=${d.system.findings ? (wrong(d.system).length ? number(wrong(d.system).length) : '✓') : number(d.system.nodes.filter((n) => n.here).length)} note=${d.system.findings ? t('system.found', { n: wrong(d.system).length }) : t('system.nodes')} to="/administration?tab=system" /><${Proof} of=${d.system.ledger} />`}
    </div>
    ${!quiet && html`<${Trends} trends=${trends} />`}
    <div class="split">
      <section class="panel"><h2>${t('today.expires')}</h2>
        ${quiet ? html`<${Empty} text=${t('today.nothing')} />` : html`<${Months} months=${d.ledger.months.slice(0, 12)} />`}
      </section>
      <section class="panel"><h2>${t('today.waits')}</h2><${Waits} d=${d} /></section>
    </div>`
}

const sum = (hooks, what) => hooks.reduce((n, h) => n + (h.backlog?.[what] || 0), 0)

function Months({ months }) {
  const most = Math.max(1, ...months.map((m) => m.points))
  return html`<div class="months">${months.map((m) => html`<span>${m.month ? month(m.month) : t('never')}</span><div class="meter" aria-hidden="true"><i style=${{ width: (100 * m.points) / most + '%' }}></i></div><span>${number(m.points)}</span>`)}</div>`
}

function Waits({ d }) {
  const { totals } = d.ledger
  const late = (d.jobs || []).filter((j) => !j.running && j.next_run_at && Date.parse(j.next_run_at) < Date.now() - 60000)
  const failing = (d.hooks || []).filter((h) => h.health?.failing_since || h.backlog?.dead > 0)
  const rows = [
    totals.pending > 0 && html`${t('points.pending')}: <strong>${number(totals.pending)}</strong>`,
    totals.debt > 0 && html`${t('points.debt')}: <strong>${number(totals.debt)}</strong>`,
    ...wrong(d.system).filter((f) => f.check !== 'jobs').map((f) => html`<a class=${f.severity === 'broken' ? 'wrong' : ''} href="#/administration?tab=system" lang="en">${f.says}</a>`),
    ...late.map((j) => html`<a class="wrong" href="#/administration?tab=jobs"><${Since} at=${j.next_run_at} say=${(at) => t('today.late', { name: j.name, at })} /></a>`),
    ...failing.map((h) => html`<a class="wrong" href=${'#/webhooks/' + h.webhook_id}>${h.label || h.url}</a> ${h.health?.failing_since ? html`<${Since} at=${h.health.failing_since} say=${(at) => t('webhook.failing', { at })} />` : ''}`),
    ...(d.failed || []).filter((f) => !f.key_id?.startsWith('user:')).slice(0, 5).map((f) => html`<a href="#/administration?tab=failed">${f.status}</a> <code>${f.method} ${f.route || '–'}</code> <span class="small"><${When} at=${f.at} /></span>`),
  ].filter(Boolean)
  return rows.length ? html`<ul class="tree">${rows.map((r) => html`<li>${r}</li>`)}</ul>` : html`<p class="soft">${t('today.calm')}</p>`
}
