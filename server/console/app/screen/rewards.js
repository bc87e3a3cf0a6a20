// Rewards and coupons: the catalogue, pools with their codes, one coupon by its code, a reward for many at once.
import { html } from '../ui.js'
import { t, number, day, title, ago } from '../words.js'
import { get, can, id } from '../api.js'
import { filter } from '../router.js'
import { useLoad } from '../load.js'
import { Loaded, Title, Empty } from '../part/state.js'
import { Table } from '../part/table.js'
import { Badge } from '../part/figures.js'
import { Picture } from '../part/picture.js'
import { Pools, Coupons } from '../part/coupons.js'
import { Lasts } from '../part/lasts.js'
import { Bulk } from '../part/bulk.js'
import { CustomFilters, customOf } from '../part/custom.js'
import { choice } from '../form/labels.js'
import { useChoices } from '../form/choices.js'

const tabs = { rewards: Rewards, pools: Pools, coupons: Coupons, bulk: ForMany }

export default function All({ place }) {
  const tab = tabs[place.query.tab] ? place.query.tab : 'rewards'
  const open = Object.keys(tabs).filter((n) => n !== 'bulk' || can('claimRewardForMany'))
  return html`<${Title} text=${t('nav.rewards')}>${can('createCouponPool') && html`<a class="button" href="#/entity/coupons/pool">${t('pool.new')}</a>`}${can('createEntity') && html`<a class="button primary" href="#/entity/rewards/reward">${t('reward.new')}</a>`}</${Title}>
    <div class="tabs">${open.map((n) => html`<button aria-pressed=${n === tab} onClick=${() => filter({ tab: n, code: '', status: '', pool: '', reward: '' })}>${t('rewards.' + n)}</button>`)}</div>
    <${tabs[tab]} place=${place} key=${tab} />`
}

function Rewards({ place }) {
  const { cursor, offset, search } = place.query
  const custom = customOf(place.query)
  const all = useLoad(() => get('/entities/rewards/reward', { limit: 50, cursor, offset, search, ...custom }), [cursor, search, JSON.stringify(custom)])
  const pace = useLoad(claimed)
  const columns = [
    { key: 'title', label: t('reward.title'), cell: (r) => html`<span class="named"><${Picture} from=${r.image} name=${title(r.title) || r.id} /><a href=${'#/entity/rewards/reward/' + id(r.id)}>${title(r.title) || r.id}</a></span>`, text: (r) => title(r.title) },
    { key: 'type', label: t('coupon.type'), cell: (r) => choice(r.type) },
    { key: 'points', label: t('reward.cost'), right: true, cell: (r) => number(r.points ?? 0) },
    { key: 'stock', label: t('reward.stock'), right: true, cell: (r) => html`<${Stock} of=${r} pace=${pace.data} />`, text: (r) => r.stock },
    ...(pace.data?.claims ? [{ key: 'claims', label: t('reward.claims.days'), right: true, cell: (r) => number(pace.data.claims[r.id] || 0), text: (r) => pace.data.claims[r.id] || 0 }] : []),
    { key: 'status', label: t('status'), cell: (r) => html`<${Badge} state=${r.status} />` },
    { key: 'ends_at', label: t('entity.until'), cell: (r) => (r.ends_at ? html`<span class="nowrap">${day(r.ends_at)}</span>` : '–'), text: (r) => r.ends_at },
  ]
  return html`<form class="filters" onSubmit=${(e) => (e.preventDefault(), filter(Object.fromEntries(new FormData(e.target))))}><label>${t('search')}<input name="search" type="search" value=${search || ''} /></label><${CustomFilters} kind="rewards/reward" query=${place.query} /><button>${t('search')}</button></form>
    <${Loaded} of=${all}>${(d) => html`<${Table} answer=${d} columns=${columns} to=${(r) => '/entity/rewards/reward/' + id(r.id)} name="rewards"
    empty=${html`<${Empty} text=${t('reward.none')}>${can('createEntity') && html`<a class="button" href="#/entity/rewards/reward">${t('reward.new')}</a>`}</${Empty}>`} />`}</${Loaded}>`
}

const span = 90 // days over which claims are counted

// claimed is how often each reward was claimed recently, and how many are left of those with a stock.
async function claimed() {
  const [figures, now] = await Promise.all([
    can('getStatistics') ? get('/admin/statistics', { metric: 'claims', by: 'reward', interval: 'month', from: ago(span), to: ago(0) }) : null, get('/rewards', { limit: 1000 }).catch(() => ({ data: [] })),
  ])
  return { claims: figures && Object.fromEntries(figures.data.series.map((s) => [s.name, s.total])), left: Object.fromEntries(now.data.map((r) => [r.id, r.in_stock])) }
}

// Stock is what is left of a reward, as a bar, and how long that lasts at this rate.
function Stock({ of, pace }) {
  if (of.stock == null) return '∞'
  const left = pace?.left[of.id] ?? null
  const a = pace?.claims?.[of.id]
  return html`${left == null ? number(of.stock) : `${number(left)} / ${number(of.stock)}`}${left != null && html`<div class="meter" aria-hidden="true"><i style=${{ width: (100 * left) / (of.stock || 1) + '%' }}></i></div>`}<${Lasts} left=${left} went=${a} within=${span} since=${of.created_at} />`
}

function ForMany({ place }) {
  const rewards = useChoices('reward')
  const reward = place.query.reward || ''
  const pick = html`<label>${t('reward.title')}<select name="reward" required value=${reward} onChange=${(e) => filter({ reward: e.target.value })}><option value="">–</option>${rewards.map((r) => html`<option value=${r.id}>${r.name || r.id}</option>`)}</select></label>`
  return html`<p class="lead">${t('bulk.text')}</p><${Bulk} begin=${reward && '/v1/bulk-operation/reward/claim/' + id(reward)} status="/v1/bulk-operation/reward/claim" title=${t('bulk.title')} lists=${true} more=${pick} />`
}
