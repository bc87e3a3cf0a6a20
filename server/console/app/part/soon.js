// Customers who rise or fall soon: a walk over all customers, which continues when asked.
import { html, useEffect, useState } from '../ui.js'
import { t, number, money, day } from '../words.js'
import { get, id } from '../api.js'
import { filter } from '../router.js'
import { Failure, Loading, Empty } from './state.js'
import { Table } from './table.js'
import { When } from './when.js'

const wanted = 10 // rows after which the walk rests
const enough = 20 // pages, each of a thousand customers, after which it rests as well

// walk reads on until there are enough rows to show.
async function walk(path, query, from, so) {
  const all = { rows: [], looked: so, next: from }
  for (let turn = 0; turn < enough && all.rows.length < wanted && (turn === 0 || all.next); turn++) {
    const page = await get(path, { ...query, limit: wanted, cursor: all.next })
    all.rows.push(...page.data)
    all.looked += page.looked_at
    all.next = page.next && new URLSearchParams(page.next.split('?')[1]).get('cursor')
  }
  return all
}

export function Soon({ structures, place }) {
  const { soon = 'rising', share = '20', days = '30', ladder } = place.query
  const s = structures.find((one) => one.id === ladder) || structures[0]
  const falling = soon === 'falling'
  const query = falling ? { days } : { share }
  const path = `/levels/${id(s.id)}/${falling ? 'falling' : 'rising'}`
  return html`<section class="soon"><h2>${t('soon.title')}</h2>
    <div class="tabs">${['rising', 'falling'].map((n) => html`<button aria-pressed=${n === soon} onClick=${() => filter({ soon: n })}>${t('soon.' + n)}</button>`)}</div>
    <form class="filters" onSubmit=${(e) => (e.preventDefault(), filter(Object.fromEntries(new FormData(e.target))))}>
      ${structures.length > 1 && html`<label>${t('soon.ladder')}<select name="ladder" value=${s.id}>${structures.map((one) => html`<option value=${one.id}>${one.name}</option>`)}</select></label>`}
      ${falling ? html`<label>${t('soon.days')}<input type="number" name="days" min="1" max="731" value=${days} /></label>` : html`<label>${t('soon.share')}<input type="number" name="share" min="1" max="100" value=${share} /></label>`}
      <button>${t('show')}</button></form>
    <${Walked} key=${path + JSON.stringify(query)} path=${path} query=${query} of=${s} falling=${falling} /></section>`
}

// Walked is one walk: another question starts a new one, and results of an earlier walk are dropped.
function Walked({ path, query, of, falling }) {
  const [state, set] = useState({ loading: true })
  const go = async (before) => {
    set({ ...before, loading: true })
    try {
      const more = await walk(path, query, before?.next, before?.looked || 0)
      set({ ...more, rows: [...(before?.rows || []), ...more.rows] })
    } catch (error) {
      set({ ...before, error })
    }
  }
  useEffect(() => void go(), [])
  const figure = (n) => (n == null ? '–' : of.base === 'spend' ? money(n, of.currency) : number(n))
  const columns = [
    { key: 'customer', label: t('customer.id'), cell: (r) => html`<a href=${'#/customer/' + id(r.customer) + '?tab=progress'}><code>${r.customer}</code></a>` },
    { key: 'level', label: t('soon.has'), cell: (r) => r.level?.name || '–', text: (r) => r.level?.name },
    falling ? { key: 'expires_at', label: t('soon.ends'), cell: (r) => html`<${When} at=${r.expires_at} as=${day} />` } : { key: 'next', label: t('soon.next'), cell: (r) => r.next.name, text: (r) => r.next.name },
    { key: 'missing', label: t('soon.missing'), right: true, cell: (r) => figure(r.missing) },
  ]
  return html`${state.error && html`<${Failure} error=${state.error} again=${() => go(state)} />`}
    ${state.rows && html`<${Table} answer=${{ data: state.rows }} columns=${columns} name=${falling ? 'falling' : 'rising'} links=${false} empty=${html`<${Empty} text=${t(`soon.${falling ? 'falling' : 'rising'}.none`)} />`} />`}
    ${state.loading ? html`<${Loading} />` : html`<p class="small actions"><span role="status">${t('soon.looked', { n: state.looked || 0 })}</span>${state.next && html`<button onClick=${() => go(state)}>${t('soon.on')}</button>`}</p>`}`
}
