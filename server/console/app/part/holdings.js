// A customer's purchases, coupons and rewards, progress, data.
import { html, useState } from '../ui.js'
import { t, number, money, day, time } from '../words.js'
import { get, post, can, id } from '../api.js'
import { useLoad } from '../load.js'
import { Loaded, Failure, Empty, Id } from './state.js'
import { Table } from './table.js'
import { worth } from './coupons.js'
import { Badge, Points } from './figures.js'
import { Tree } from './timeline.js'
import { modulesOn } from './modules.js'
import { choice, label } from '../form/labels.js'
import { sure } from './dialog.js'
import { tell } from './toast.js'
import { When } from './when.js'

export function Purchases({ who, place }) {
  const { cursor, offset } = place.query
  const all = useLoad(() => get(`/customers/${id(who)}/transactions`, { limit: 20, cursor, offset }), [who, cursor])
  const columns = [
    { key: 'id', label: t('purchase.id'), cell: (p) => html`<${Id} value=${p.id} />` },
    { key: 'checkout_date', label: t('time'), cell: (p) => html`<${When} at=${p.checkout_date} />` },
    { key: 'status', label: t('status'), cell: (p) => html`<${Badge} state=${p.status} />` },
    { key: 'total', label: t('purchase.total'), right: true, cell: (p) => money(p.total, p.currency) },
    { key: 'refunded', label: t('purchase.refunded'), right: true, cell: (p) => (p.refunded ? money(p.refunded, p.currency) : '–') },
    { key: 'earned', label: t('points.earned'), right: true, cell: (p) => number(p.earned) },
    { key: 'items', label: t('purchase.why'), cell: (p) => html`<${Bought} key=${p.id} who=${who} of=${p} />`, text: (p) => p.items?.length },
  ]
  return html`<${Loaded} of=${all}>${(d) => html`<${Table} answer=${d} columns=${columns} name="purchases" empty=${html`<${Empty} text=${t('purchase.none')} />`} />`}</${Loaded}>`
}

// Bought shows the lines of a purchase and its events: its acceptance and its refunds, and what each gave or took.
function Bought({ who, of }) {
  const [open, show] = useState(false)
  return html`<details onToggle=${(e) => show(e.currentTarget.open)}><summary>${t('purchase.items', { n: of.items?.length || 0 })}</summary>
    ${open && html`<ul>${(of.items || []).map((i) => html`<li>${number(i.quantity, 3)} × <bdi>${i.product_name}</bdi> · ${money(i.subtotal, of.currency)} <${Points} n=${i.points} /></li>`)}</ul><${History} who=${who} of=${of.id} />`}</details>`
}

function History({ who, of }) {
  const all = useLoad(() => get(`/customers/${id(who)}/transactions/${id(of)}/events`, { limit: 100 }), [who, of])
  return html`<${Loaded} of=${all}>${({ data }) => html`<${Tree} events=${data} />`}</${Loaded}>`
}

export function Coupons({ who, place }) {
  const { cursor, offset } = place.query
  const coupons = useLoad(() => get(`/customers/${id(who)}/coupons`, { limit: 50, cursor, offset }), [who, cursor])
  const rewards = useLoad(() => get(`/customers/${id(who)}/rewards`, { limit: 50 }), [who])
  const [wrong, fail] = useState(null)
  const hand = async (r) => {
    if (!(await sure(t('reward.hand'), t('reward.hand.text', { title: r.title })))) return
    try {
      await post(`/rewards/claims/${id(r.claim_id)}/redeem`, {})
      fail(null)
      tell(t('done'))
      rewards.again()
      coupons.again()
    } catch (error) {
      fail(error)
    }
  }
  const columns = [
    { key: 'code', label: t('coupon.code'), cell: (c) => html`<${Id} value=${c.code} />` },
    { key: 'name', label: t('name') },
    { key: 'type', label: t('coupon.type'), cell: (c) => choice(c.type), text: (c) => c.type },
    { key: 'status', label: t('status'), cell: (c) => html`<${Badge} state=${c.status} />` },
    { key: 'value', label: t('coupon.value'), right: true, cell: (c) => worth(c), text: (c) => c.value },
    { key: 'expires_at', label: t('lots.expires'), cell: (c) => html`<${When} at=${c.expires_at} as=${day} />` },
  ]
  const claimed = [
    { key: 'title', label: t('reward.title') },
    { key: 'claimed_at', label: t('reward.claimed'), cell: (r) => html`<${When} at=${r.claimed_at} />` },
    { key: 'points', label: t('points'), right: true, cell: (r) => number(r.points) },
    { key: 'state', label: t('status'), cell: (r) => html`<${Badge} state=${r.state} />` },
    { key: 'claim_id', label: t('reward.claim'), cell: (r) => html`<${Id} value=${r.claim_id} />` },
    { key: 'do', label: '', cell: (r) => r.state === 'claimed' && can('redeemRewardClaim') && html`<button class="tiny" onClick=${() => hand(r)}>${t('reward.hand')}</button>`, text: () => '' },
  ]
  return html`<${Loaded} of=${coupons}>${(d) => html`<${Table} answer=${d} columns=${columns} name="coupons" empty=${html`<${Empty} text=${t('coupon.none')} />`} />`}</${Loaded}>
    <h2>${t('reward.claims')}</h2>${wrong && html`<${Failure} error=${wrong} />`}<${Loaded} of=${rewards}>${(d) => html`<${Table} answer=${d} columns=${claimed} name="claims" links=${false} empty=${html`<${Empty} text=${t('reward.noclaims')} />`} />`}</${Loaded}>`
}

export function Progress({ who }) {
  const all = useLoad(async () => {
    const on = await modulesOn()
    const nothing = { data: [] }
    const [levels, challenges, rank] = await Promise.all([
      on('tiers') ? get(`/customers/${id(who)}/levels`) : nothing, on('challenges') ? get(`/v2/customers/${id(who)}/activities/challenges`, { limit: 50 }) : nothing, get(`/customers/${id(who)}/leaderboard`).catch(() => null)])
    return { levels: levels.data, challenges: challenges.data, rank: rank?.data }
  }, [who])
  return html`<${Loaded} of=${all}>${(d) => html`
    ${d.rank && html`<p>${t('rank')}: <strong>${number(d.rank.rank)}</strong> · ${t('points.score')} ${number(d.rank.score)}</p>`}
    <h2>${t('nav.levels')}</h2>${d.levels.map((l) => html`<div class="rule ${l.current ? 'applied' : ''}"><header><strong>${l.name}</strong><span><bdi>${l.structure.name}</bdi> · ${number(l.figure)} / ${number(l.threshold)}</span></header>
      ${l.missing > 0 && html`<span class="small">${t('level.missing', { n: l.missing })}</span>`}${l.current && l.expires_at && html`<span class="small">${t('level.until', { at: day(l.expires_at) })}</span>`}</div>`)}
    <h2>${t('challenges')}</h2>${d.challenges.map((c) => html`<div class="rule"><header><strong>${c.title}</strong><span>${number(c.progress?.percent ?? 100)} %</span></header>
      <div class="meter"><i style=${{ width: (c.progress?.percent ?? 100) + '%' }}></i></div>${(c.progress?.criteria || []).map((k) => html`<span class="small"><bdi>${k.label || k.action}</bdi>: ${number(k.current)} / ${number(k.threshold)} </span>`)}</div>`)}
    ${!d.levels.length && !d.challenges.length && html`<${Empty} text=${t('progress.none')} />`}`}</${Loaded}>`
}

// head are the figures above every tab.
const head = ['spendable', 'reserved', 'pending', 'score', 'spent', 'expired']

const written = (v) => (v == null || v === '' || (Array.isArray(v) && !v.length) ? '–' : typeof v === 'boolean' ? t(v ? 'yes' : 'no') : typeof v === 'object' ? html`<pre>${JSON.stringify(v, null, 2)}</pre>` : /^\d{4}-\d\d-\d\dT/.test(v) ? html`<span title=${v}>${time(v)}</span>` : typeof v === 'number' ? number(v, 4) : html`<bdi>${v}</bdi>`)

export function Data({ customer }) {
  const rows = Object.entries(customer).filter(([name]) => !head.includes(name)).sort()
  return html`<dl class="panel facts wide">${rows.map(([name, value]) => html`<dt>${name.startsWith('cf_') ? html`<bdi>${name.slice(3)}</bdi>` : label(name)}</dt><dd>${written(value)}</dd>`)}</dl>`
}
