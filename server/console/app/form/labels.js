// The labels of fields and choices, which fields a form shows first, and which refer to something else.
import { t, has } from '../words.js'

// label is a property in words; a property without words is spelt out.
export const label = (name) => (has('field.' + name) ? t('field.' + name) : (name[0].toUpperCase() + name.slice(1)).replaceAll('_', ' '))
export const choice = (value) => (has('choice.' + value) ? t('choice.' + value) : String(value).replaceAll('_', ' '))

// first are the fields that most users need, in their usual order; the others are behind "more".
const first = {
  'automation/campaign': ['name', 'trigger', 'condition', 'effects', 'status', 'starts_at', 'ends_at', 'limit'],
  'rewards/reward': ['title', 'type', 'points', 'award', 'pool', 'coupon', 'stock', 'max_claims', 'starts_at', 'ends_at', 'description'],
  'coupons/pool': ['name', 'source', 'pattern', 'coupon'],
  'tiers/structure': ['name', 'base', 'window', 'downgrade'],
  'tiers/tier': ['name', 'structure', 'threshold', 'benefits'],
  'offers/offer': ['title', 'name', 'type', 'discount', 'min_total', 'eligible_items', 'starts_at', 'ends_at', 'description'],
  'challenges/challenge': ['title', 'points', 'criteria', 'starts_at', 'ends_at', 'description'],
  Expiry: ['policy', 'months', 'days', 'date'],
  CouponTemplate: ['type', 'value', 'name', 'valid_days'],
  checkout: ['total', 'items', 'currency', 'store', 'coupons', 'points_burned'],
  line: ['product_name', 'quantity', 'subtotal', 'product_id', 'product_url', 'product_category'],
}

// order returns the names of a form's fields: those shown first, and the rest. A form without an entry starts with its
// required fields.
export function order(names, needed, form) {
  const wish = first[form]
  if (!wish) {
    const sorted = [...names].sort((a, b) => needed.has(b) - needed.has(a))
    return sorted.length > 12 ? [sorted.slice(0, Math.max(8, needed.size)), sorted.slice(Math.max(8, needed.size))] : [sorted, []]
  }
  const shown = wish.filter((n) => names.includes(n))
  for (const n of names) if (needed.has(n) && !shown.includes(n)) shown.push(n)
  return [shown, names.filter((n) => !shown.includes(n))]
}

// formOf names the form of an object by its properties.
export const formOf = (schema) => (schema.properties?.product_url ? 'line' : schema.properties?.valid_days ? 'CouponTemplate' : schema.properties?.policy ? 'Expiry' : '')

// useless tells whether a field has no meaning beside the values of the others.
export function useless(form, name, value) {
  if (form === 'rewards/reward') return (name === 'award' && value.type !== 'points') || (['pool', 'coupon'].includes(name) && value.type !== 'coupon') || (name === 'coupon' && Boolean(value.pool)) || (name === 'pool' && Boolean(value.coupon))
  if (form === 'coupons/pool') return name === 'pattern' && value.source === 'uploaded'
  return false
}

// kinds are the types of the entities that a field refers to.
const kinds = { pool: 'coupons/pool', segments: 'segments/segment', segment: 'segments/segment', store: 'stores/store', stores: 'stores/store', structure: 'tiers/structure', tier: 'tiers/tier', reward: 'rewards/reward', challenge: 'challenges/challenge', contest: 'contests/contest', offers: 'offers/offer', list: 'core/customer-list' }
export const kindOf = (name) => kinds[name]
export const isAction = (name) => name === 'trigger' || name === 'action'
