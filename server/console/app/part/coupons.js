// Coupon pools with their codes, and one coupon by its code.
import { html, useState } from '../ui.js'
import { t, number, money, day } from '../words.js'
import { get, post, can, id } from '../api.js'
import { filter } from '../router.js'
import { useLoad } from '../load.js'
import { Loaded, Failure, Empty, Id } from './state.js'
import { Table } from './table.js'
import { Badge } from './figures.js'
import { sure } from './dialog.js'
import { follow } from './bulk.js'
import { Lasts } from './lasts.js'
import { Tree } from './timeline.js'
import { Metric } from './metric.js'
import { choice } from '../form/labels.js'
import { When } from './when.js'
import { Usage } from './usage.js'

// worth is the value of a coupon: percent, or money.
export const worth = (c) => (c.value == null ? '–' : c.type === 'percentage' ? number(c.value, 2) + ' %' : ['amount', 'gift_card'].includes(c.type) || c.currency ? money(c.value, c.currency) : number(c.value, 2))

export function Pools({ place }) {
  const { offset, pool } = place.query
  const all = useLoad(() => get('/coupon-pools', { limit: 50, offset }), [offset])
  const columns = [
    { key: 'name', label: t('name'), cell: (p) => html`<a href=${'#/entity/coupons/pool/' + id(p.id)}>${p.name}</a>` },
    { key: 'source', label: t('pool.source'), cell: (p) => t('pool.source.' + p.source) },
    { key: 'available', label: t('pool.available'), right: true, cell: (p) => html`${number(p.available)} / ${number(p.total)}<div class="meter" aria-hidden="true"><i style=${{ width: (100 * p.available) / (p.total || 1) + '%' }}></i></div>${p.source === 'uploaded' && html`<${Lasts} left=${p.available} went=${p.given_30_days} within=${30} since=${p.created_at} />`}`, text: (p) => p.available },
    { key: 'given', label: t('pool.given'), right: true, cell: (p) => number(p.given_30_days), text: (p) => p.given_30_days },
    { key: 'claimed', label: t('pool.claimed'), right: true, cell: (p) => number(p.claimed) },
    { key: 'redeemed', label: t('pool.redeemed'), right: true, cell: (p) => number(p.redeemed) },
    { key: 'add', label: '', cell: (p) => can('addCodes') && html`<div class="actions"><button onClick=${() => filter({ pool: pool === p.id ? '' : p.id })}>${t('pool.add')}</button></div>`, text: () => '' },
  ]
  return html`<${Loaded} of=${all}>${(d) => html`${d.data.filter((p) => p.id === pool).map((p) => html`<${AddCodes} key=${p.id} pool=${p} done=${all.again} />`)}
      <${Table} answer=${d} columns=${columns} name="pools" empty=${html`<${Empty} text=${t('pool.none')}>${can('createCouponPool') && html`<a class="button" href="#/entity/coupons/pool">${t('pool.new')}</a>`}</${Empty}>`} />`}</${Loaded}>
    ${can('getStatistics') && html`<${Metric} metric="redemptions" title=${t('pool.days')} />`}${can('getCouponUsage') && html`<${Usage} />`}`
}

// AddCodes uploads codes, pasted or from a file, or makes new ones. It shows what they are before it sends them.
function AddCodes({ pool, done }) {
  const [text, write] = useState('')
  const [state, set] = useState({})
  const read = async (file) => file && write(await file.text())
  const send = async (e) => {
    e.preventDefault()
    const codes = text.split(/[\s,;]+/).filter(Boolean)
    const seen = new Set() // codes that differ only in letter case are the same
    const once = codes.filter((c) => !seen.has(c.toLowerCase()) && seen.add(c.toLowerCase()))
    const body = pool.source === 'generated' ? { generate: Number(e.target.elements.generate.value) } : { codes: once }
    if (!(await sure(t('pool.add'), body.codes ? t('pool.check', { n: once.length, twice: codes.length - once.length }) : t('pool.generate', { n: body.generate })))) return
    try {
      const { data } = await post(`/coupon-pools/${id(pool.id)}/codes`, body)
      if (!data.batch_id) {
        set({ now: { done: data.added, errors: 0 } })
        return done()
      }
      await follow('/coupon-pools/codes', data, (now) => set({ now }))
      const errors = (await get(`/coupon-pools/codes/${id(data.batch_id)}/status/errors`, { limit: 20 })).data
      set((s) => ({ ...s, errors }))
      done()
    } catch (error) {
      set({ error })
    }
  }
  const { now } = state
  return html`<form class="panel" onSubmit=${send}><h2>${pool.name}</h2>
    ${pool.source === 'generated' ? html`<label>${t('pool.many')}<input name="generate" type="number" min="1" value="100" /></label>` : html`<label>${t('pool.paste')}<textarea name="codes" value=${text} onInput=${(e) => write(e.target.value)}></textarea></label><label>${t('configuration.file')}<input type="file" accept=".csv,.txt,text/csv,text/plain" onChange=${(e) => read(e.target.files[0])} /></label>`}
    <div class="actions"><button class="primary">${t('pool.add')}</button></div>${state.error && html`<${Failure} error=${state.error} />`}
    ${now && html`<p role="status">${t('pool.added', { n: now.done - (now.errors || 0) })} ${now.errors > 0 && html`<span class="wrong">${t('bulk.refused', { n: now.errors })}</span>`}</p>`}
    ${state.errors?.length > 0 && html`<ul class="small">${state.errors.map((r) => html`<li><code>${r.code}</code> ${r.error?.message}</li>`)}</ul>`}</form>`
}

const states = ['created', 'claimed', 'partially_redeemed', 'redeemed', 'expired', 'revoked']

export function Coupons({ place }) {
  const { cursor, offset, code, status, pool } = place.query
  const all = useLoad(() => get('/coupons', { limit: 50, cursor, offset, status, pool }), [cursor, status, pool])
  const columns = [
    { key: 'code', label: t('coupon.code'), cell: (c) => html`<button class="link" onClick=${() => filter({ code: c.code })}><code>${c.code}</code></button>` },
    { key: 'name', label: t('name') },
    { key: 'type', label: t('coupon.type'), cell: (c) => choice(c.type), text: (c) => c.type },
    { key: 'status', label: t('status'), cell: (c) => html`<${Badge} state=${c.status} />` },
    { key: 'pool', label: t('pool.pool'), cell: (c) => (c.pool ? html`<a href=${'#/entity/coupons/pool/' + id(c.pool)}>${c.pool}</a>` : '–') },
    { key: 'customer', label: t('customer'), cell: (c) => (c.customer ? html`<a href=${'#/customer/' + id(c.customer.id)}>${c.customer.id}</a>` : '–'), text: (c) => c.customer?.id },
    { key: 'expires_at', label: t('lots.expires'), cell: (c) => html`<${When} at=${c.expires_at} as=${day} />` },
  ]
  return html`<form class="filters" onSubmit=${(e) => (e.preventDefault(), filter(Object.fromEntries(new FormData(e.target))))}><label>${t('coupon.code')}<input name="code" value=${code || ''} /></label>
      <label>${t('status')}<select name="status" value=${status || ''}><option value="">–</option>${states.map((s) => html`<option value=${s}>${t('state.' + s)}</option>`)}</select></label><button>${t('search')}</button></form>
    ${code && html`<${Coupon} key=${code} code=${code} />`}
    <${Loaded} of=${all}>${(d) => html`<${Table} answer=${d} columns=${columns} name="coupons" empty=${code || status ? undefined : html`<${Empty} text=${t('coupons.none')}>${can('createCouponPool') && html`<a class="button" href="#/entity/coupons/pool">${t('pool.new')}</a>`}</${Empty}>`} />`}</${Loaded}>`
}

// Coupon is one coupon by its code, with its history.
function Coupon({ code }) {
  const one = useLoad(() => get('/coupons/' + id(code)), [code])
  return html`<section class="panel"><${Loaded} of=${one}>${(d) => {
    const c = d.data ?? d
    const facts = [
      [t('name'), c.name], [t('coupon.type'), choice(c.type)], [t('coupon.value'), c.value != null && worth(c)], [t('coupon.balance'), c.balance != null && money(c.balance, c.currency)],
      [t('customer'), c.customer && html`<a href=${'#/customer/' + id(c.customer.id)}>${c.customer.id}</a>`], [t('reward.title'), c.reward && html`<a href=${'#/entity/rewards/reward/' + id(c.reward)}>${c.reward}</a>`],
      [t('pool.pool'), c.pool && html`<a href=${'#/entity/coupons/pool/' + id(c.pool)}>${c.pool}</a>`], [t('reward.claimed'), c.claimed_at && html`<${When} at=${c.claimed_at} />`], [t('lots.expires'), c.expires_at && html`<${When} at=${c.expires_at} as=${day} />`],
    ]
    return html`<h2><${Id} value=${c.code} /> <${Badge} state=${c.status} /></h2><dl class="facts">${facts.filter(([, v]) => v).map(([k, v]) => html`<dt>${k}</dt><dd>${v}</dd>`)}</dl><h3>${t('entity.history')}</h3><${Tree} events=${c.events || []} />`
  }}</${Loaded}></section>`
}
