// What an event would do: the result, then the reason rule by rule.
import { html } from '../ui.js'
import { t, has, number, day } from '../words.js'
import { Badge, Points } from './figures.js'
import { Table } from './table.js'
import { Tree } from './timeline.js'
import { When } from './when.js'

const ruleName = (rule) => (has('rule.' + rule) ? t('rule.' + rule) : rule.replaceAll('_', ' '))
const told = (v) => (typeof v === 'object' && v !== null ? JSON.stringify(v) : String(v))

// called are the properties that name what a rule looked at, best first; the rest are facts below it.
const called = ['name', 'product_name', 'title', 'campaign', 'challenge', 'reward', 'product_id']

export function Explanation({ answer, real }) {
  const rules = answer.rules || []
  const applied = rules.filter((r) => r.verdict !== 'skipped')
  const skipped = rules.filter((r) => r.verdict === 'skipped')
  const change = (answer.events || []).reduce((sum, e) => sum + (e.change || 0), 0)
  const most = Math.max(1, ...rules.map((r) => Math.abs(r.points)))
  const lots = [
    { key: 'earned_at', label: t('lots.earned'), cell: (l) => html`<${When} at=${l.earned_at} as=${day} />` },
    { key: 'expires_at', label: t('lots.expires'), cell: (l) => (l.expires_at ? day(l.expires_at) : t('never')) },
    { key: 'points', label: t('points'), right: true, cell: (l) => html`<${Points} n=${l.points} />` },
    { key: 'remaining', label: t('lots.left'), right: true, cell: (l) => number(l.remaining) },
  ]
  return html`<section aria-live="polite" class="explain">
    ${answer.error
      ? html`<div class="failure"><p><strong>${t('explain.refused')}</strong></p><p>${answer.error.message}</p></div>`
      : html`<div class="panel result"><b class=${change < 0 ? 'loss' : change > 0 ? 'gain' : ''}>${change > 0 ? '+' : ''}${number(change)} ${t('explain.points')}</b>
          <span class="soft">${real ? t('tester.real') : t('explain.nothing')}${answer.customer ? ' ' + t('explain.after', { n: answer.customer.spendable }) : ''}</span></div>`}
    ${(answer.warnings || []).map((w) => html`<p class="notice">${w.message || w.code}</p>`)}
    ${applied.length > 0 && html`<h2>${t('explain.rules')}</h2><div class="rules">${applied.map((r) => html`<${Rule} r=${r} most=${most} />`)}</div>`}
    ${skipped.length > 0 && html`<h2>${t('explain.skipped')}</h2><div class="rules">${skipped.map((r) => html`<${Rule} r=${r} most=${most} />`)}</div>`}
    ${answer.events?.length > 0 && html`<h2>${real ? t('explain.recorded') : t('explain.events')}</h2><div class="panel"><${Tree} events=${[...answer.events].reverse()} /></div>`}
    ${answer.lots?.length > 0 && html`<h2>${t('explain.lots')}</h2><${Table} answer=${{ data: answer.lots }} columns=${lots} name="lots" links=${false} />`}
  </section>`
}

function Rule({ r, most }) {
  const input = r.input || {}
  const by = called.find((n) => input[n])
  const facts = Object.entries(input).filter(([k]) => k !== by && !(by === 'name' && ['campaign', 'challenge'].includes(k)))
  const name = by && (input.campaign ? html`<a href=${'#/campaigns/' + encodeURIComponent(input.campaign)}>${told(input[by])}</a>` : told(input[by]))
  return html`<div class=${'rule ' + r.verdict}><header><span><strong>${ruleName(r.rule)}</strong>${by ? html` ${name}` : ''} ${r.verdict === 'refused' && html`<${Badge} state=${r.verdict} />`}</span>${r.points !== 0 && html`<${Points} n=${r.points} />`}</header>
    <p>${r.reason}</p>${r.points !== 0 && html`<div class=${'meter' + (r.points < 0 ? ' loss' : '')} aria-hidden="true"><i style=${{ width: (100 * Math.abs(r.points)) / most + '%' }}></i></div>`}
    ${facts.length > 0 && html`<dl class="facts">${facts.map(([k, v]) => html`<dt>${has('field.' + k) ? t('field.' + k) : k.replaceAll('_', ' ')}</dt><dd>${k === 'condition' ? html`<code>${told(v)}</code>` : told(v)}</dd>`)}</dl>`}</div>`
}
