// What an event would do, rule by rule.
import { html } from '../ui.js'
import { t, number, day } from '../words.js'
import { Badge, Points } from './figures.js'
import { Table } from './table.js'
import { Tree } from './timeline.js'

const told = (input = {}) => Object.entries(input).map(([k, v]) => `${k}: ${typeof v === 'object' ? JSON.stringify(v) : v}`).join(' · ')

export function Explanation({ answer }) {
  const rules = answer.rules || []
  let sum = 0
  const most = Math.max(1, ...rules.map((r) => Math.abs(r.points)))
  const lots = [
    { key: 'earned_at', label: t('lots.earned'), cell: (l) => day(l.earned_at) },
    { key: 'expires_at', label: t('lots.expires'), cell: (l) => (l.expires_at ? day(l.expires_at) : t('never')) },
    { key: 'points', label: t('points'), right: true, cell: (l) => number(l.points) },
    { key: 'remaining', label: t('lots.left'), right: true, cell: (l) => number(l.remaining) },
  ]
  return html`<section aria-live="polite" class="explain">
    <h2>${t('explain.rules')}</h2>
    <div class="rules">${rules.map((r) => {
      if (r.verdict === 'applied' && r.rule !== 'standing') sum += r.points
      return html`<div class=${'rule ' + r.verdict}><header><span><strong>${r.rule}</strong> ${r.input?.name || r.input?.campaign || r.input?.challenge || ''} <${Badge} state=${r.verdict} /></span><${Points} n=${r.points} /></header>
        ${r.reason}<div class="small">${told(r.input)}</div>${r.points !== 0 && html`<div class="meter" aria-hidden="true"><i style=${{ width: (100 * Math.abs(r.points)) / most + '%' }}></i></div>`}</div>`
    })}</div>
    <h2>${t('explain.events')}</h2><${Tree} events=${[...(answer.events || [])].reverse()} />
    ${answer.lots?.length > 0 && html`<h2>${t('explain.lots')}</h2><${Table} answer=${{ data: answer.lots }} columns=${lots} name="lots" links=${false} />`}
    ${answer.customer && html`<p>${t('explain.after')}: <strong>${number(answer.customer.spendable)}</strong> ${t('points.spendable')}</p>`}
  </section>`
}
