// Rewards and coupons: the catalogue, pools with their codes, one coupon by its code.
import { html, useState } from '../ui.js'
import { t, number, day, time, title } from '../words.js'
import { get, post, can, id } from '../api.js'
import { filter } from '../router.js'
import { useLoad } from '../load.js'
import { Loaded, Title, Failure, Empty, Id } from '../part/state.js'
import { Table } from '../part/table.js'
import { Badge } from '../part/figures.js'
import { sure } from '../part/dialog.js'

const tabs = { rewards: Rewards, pools: Pools, coupons: Coupons }

export default function All({ place }) {
  const tab = tabs[place.query.tab] ? place.query.tab : 'rewards'
  return html`<${Title} text=${t('nav.rewards')}>${can('createEntity') && html`<a href="#/entity/rewards/reward">${t('reward.new')}</a>`}${can('createCouponPool') && html`<a href="#/entity/coupons/pool">${t('pool.new')}</a>`}</${Title}>
    <div class="tabs">${Object.keys(tabs).map((n) => html`<button aria-pressed=${n === tab} onClick=${() => filter({ tab: n, code: '' })}>${t('rewards.' + n)}</button>`)}</div>
    <${tabs[tab]} place=${place} key=${tab} />`
}

function Rewards({ place }) {
  const { cursor, offset } = place.query
  const all = useLoad(() => get('/entities/rewards/reward', { limit: 50, cursor, offset }), [cursor])
  const columns = [
    { key: 'title', label: t('reward.title'), cell: (r) => title(r.title), text: (r) => title(r.title) },
    { key: 'type', label: t('coupon.type') },
    { key: 'points', label: t('reward.cost'), right: true, cell: (r) => number(r.points ?? 0) },
    { key: 'stock', label: t('reward.stock'), right: true, cell: (r) => (r.stock == null ? '∞' : number(r.stock)) },
    { key: 'status', label: t('status'), cell: (r) => html`<${Badge} state=${r.status} />` },
    { key: 'ends_at', label: t('entity.until'), cell: (r) => (r.ends_at ? day(r.ends_at) : '–') },
  ]
  return html`<${Loaded} of=${all}>${(d) => html`<${Table} answer=${d} columns=${columns} to=${(r) => '/entity/rewards/reward/' + id(r.id)} name="rewards"
    empty=${html`<${Empty} text=${t('reward.none')}><p><a href="#/entity/rewards/reward">${t('reward.new')}</a></p></${Empty}>`} />`}</${Loaded}>`
}

function Pools({ place }) {
  const { cursor, offset } = place.query
  const all = useLoad(() => get('/coupon-pools', { limit: 50, cursor, offset }), [cursor, offset])
  const columns = [
    { key: 'name', label: t('name'), cell: (p) => html`<a href=${'#/entity/coupons/pool/' + id(p.id)}>${p.name}</a>` },
    { key: 'source', label: t('pool.source') },
    { key: 'available', label: t('pool.available'), right: true, cell: (p) => html`${number(p.available)} / ${number(p.total)}<div class="meter"><i style=${{ width: (100 * p.available) / (p.total || 1) + '%' }}></i></div>` },
    { key: 'claimed', label: t('pool.claimed'), right: true, cell: (p) => number(p.claimed) },
    { key: 'redeemed', label: t('pool.redeemed'), right: true, cell: (p) => number(p.redeemed) },
    { key: 'add', label: '', cell: (p) => can('addCodes') && html`<${AddCodes} pool=${p} done=${all.again} />`, text: () => '' },
  ]
  return html`<${Loaded} of=${all}>${(d) => html`<${Table} answer=${d} columns=${columns} name="pools" empty=${html`<${Empty} text=${t('pool.none')}><a href="#/entity/coupons/pool">${t('pool.new')}</a></${Empty}>`} />`}</${Loaded}>`
}

// AddCodes uploads pasted codes or makes new ones; what the paste holds is told before it is sent.
function AddCodes({ pool, done }) {
  const [open, set] = useState(false)
  const [result, tell] = useState({})
  const send = async (e) => {
    e.preventDefault()
    const f = e.target.elements
    const codes = (f.codes?.value || '').split(/[\s,;]+/).filter(Boolean)
    const twice = codes.length - new Set(codes).size
    const body = codes.length ? { codes: [...new Set(codes)] } : { generate: Number(f.generate.value) }
    if (!(await sure(t('pool.add'), codes.length ? t('pool.check', { n: body.codes.length, twice }) : t('pool.generate', { n: body.generate })))) return
    try {
      tell({ data: (await post(`/coupon-pools/${id(pool.id)}/codes`, body)).data })
      done()
    } catch (error) {
      tell({ error })
    }
  }
  if (!open) return html`<button onClick=${() => set(true)}>${t('pool.add')}</button>`
  return html`<form onSubmit=${send}>
    ${pool.source === 'generated' ? html`<label>${t('pool.many')}<input name="generate" type="number" min="1" value="100" /></label>` : html`<label>${t('pool.paste')}<textarea name="codes"></textarea></label>`}
    <button class="primary">${t('pool.add')}</button>${result.error && html`<${Failure} error=${result.error} />`}${result.data && html`<p role="status">${t('pool.added', { n: result.data.added ?? result.data.total ?? 0 })}</p>`}</form>`
}

function Coupons({ place }) {
  const { cursor, offset, code, status } = place.query
  const one = useLoad(() => (code ? get('/coupons/' + id(code)) : null), [code])
  const all = useLoad(() => get('/coupons', { limit: 50, cursor, offset, status }), [cursor, status])
  const columns = [
    { key: 'code', label: t('coupon.code'), cell: (c) => html`<button class="link" onClick=${() => filter({ code: c.code })}>${c.code}</button>` },
    { key: 'name', label: t('name') },
    { key: 'type', label: t('coupon.type') },
    { key: 'status', label: t('status'), cell: (c) => html`<${Badge} state=${c.status} />` },
    { key: 'customer', label: t('customer'), cell: (c) => (c.customer ? html`<a href=${'#/customer/' + id(c.customer.id)}>${c.customer.id}</a>` : '–'), text: (c) => c.customer?.id },
    { key: 'expires_at', label: t('lots.expires'), cell: (c) => (c.expires_at ? day(c.expires_at) : '–') },
  ]
  return html`<form class="filters" onSubmit=${(e) => (e.preventDefault(), filter({ code: e.target.elements.code.value }))}><label>${t('coupon.code')}<input name="code" value=${code || ''} /></label><button>${t('search')}</button></form>
    ${code && html`<${Loaded} of=${one}>${(d) => html`<div class="card"><${Id} value=${code} /><pre>${JSON.stringify(d.data ?? d, null, 2)}</pre></div>`}</${Loaded}>`}
    <${Loaded} of=${all}>${(d) => html`<${Table} answer=${d} columns=${columns} name="coupons" empty=${html`<${Empty} text=${t('coupon.none')} />`} />`}</${Loaded}>`
}
