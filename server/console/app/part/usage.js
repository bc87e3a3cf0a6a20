// The number and value of coupons, by day and by state.
import { html, useState } from '../ui.js'
import { t, number, money, ago } from '../words.js'
import { get } from '../api.js'
import { useLoad } from '../load.js'
import { Loaded, Empty } from './state.js'
import { Table } from './table.js'
import { Badge } from './figures.js'
import { Chart } from './chart.js'

const span = 90 // days, by when the coupons were made
const days = ['created_at', 'claimed_at', 'redeemed_at']

// counted reads all pages of the counts.
async function counted(asked) {
  const all = []
  let offset
  do {
    const page = await get('/coupons/-/usage', { ...asked, limit: 1000, offset })
    all.push(...page.data)
    offset = page.next && new URLSearchParams(page.next.split('?')[1]).get('offset')
  } while (offset)
  return all
}

// together adds up the days. Currencies are never added up.
function together(counts) {
  const groups = new Map()
  for (const c of counts) {
    const key = [c.pool, c.status, c.currency].join(' ')
    const one = groups.get(key) || { pool: c.pool, status: c.status, currency: c.currency, count: 0 }
    groups.set(key, one)
    one.count += c.count
    if (c.currency) (one.value = (one.value || 0) + c.value), (one.redeemed = (one.redeemed || 0) + c.redeemed)
  }
  return [...groups.values()]
}

// Usage is the usage of a pool, or of all coupons.
export function Usage({ pool }) {
  const [day, choose] = useState('created_at')
  const all = useLoad(() => counted({ pool, day, 'created_at.gte': ago(span) }), [pool, day])
  const columns = [
    ...(pool ? [] : [{ key: 'pool', label: t('pool.pool'), cell: (c) => c.pool || '–' }]),
    { key: 'status', label: t('status'), cell: (c) => html`<${Badge} state=${c.status} />`, text: (c) => c.status },
    { key: 'count', label: t('usage.count'), right: true, cell: (c) => number(c.count) },
    { key: 'value', label: t('coupon.value'), right: true, cell: (c) => (c.currency ? money(c.value, c.currency) : '–') },
    { key: 'redeemed', label: t('usage.redeemed'), right: true, cell: (c) => (c.currency ? money(c.redeemed, c.currency) : '–') },
  ]
  return html`<section class="usage"><h2>${t('usage.title')}</h2><p class="small">${t('usage.text', { n: span })}</p>
    <div class="tabs">${days.map((d) => html`<button aria-pressed=${d === day} onClick=${() => choose(d)}>${t('usage.' + d)}</button>`)}</div>
    <${Loaded} of=${all}>${(counts) => {
      if (!counts.length) return html`<${Empty} text=${t('usage.none')} />`
      const states = [...new Set(counts.map((c) => c.status))].sort()
      const on = (d, s) => counts.reduce((n, c) => (c.day === d && c.status === s ? n + c.count : n), 0)
      const rows = [...new Set(counts.map((c) => c.day))].sort().map((d) => ({ at: Date.parse(d + 'T00:00:00Z') / 1000, label: d, values: states.map((s) => on(d, s)) }))
      return html`<div class="panel"><${Chart} title=${t('usage.days')} kind="stack" height=${160} rows=${rows} series=${states.map((s) => ({ label: t('state.' + s) }))} /></div>
        <${Table} answer=${{ data: together(counts) }} columns=${columns} name="usage" links=${false} />`
    }}</${Loaded}></section>`
}
