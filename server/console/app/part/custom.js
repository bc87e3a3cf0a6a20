// Filters by custom attributes that are declared as filters of lists.
import { html } from '../ui.js'
import { t } from '../words.js'
import { get, can, me } from '../api.js'
import { useLoad } from '../load.js'
import { modulesOn } from './modules.js'

// customOf picks the filters of a place that are custom attributes.
export const customOf = (query) => Object.fromEntries(Object.entries(query).filter(([name, value]) => name.startsWith('cf_') && value))

const readable = async (kind) => {
  if (!can('listEntities') || !(await modulesOn())('custom_entities')) return []
  const all = await get('/entities/custom-entities/attribute', { limit: 100 })
  return all.data.filter((a) => a.on === kind && ['filterable', 'api'].every((tag) => /** @type {string[]} */ (a.tags)?.includes(tag)))
}

// CustomFilters are fields for a form of filters: equality, and a lower bound for numbers and dates, unless a bound
// would reveal masked data of customers.
export function CustomFilters({ kind, query }) {
  const all = useLoad(() => readable(kind), [kind])
  return (all.data || []).map((a) => {
    const name = 'cf_' + a.name
    if (a.type === 'boolean') return html`<label>${a.name}<select name=${name} value=${query[name] || ''}><option value="">–</option><option value="true">${t('yes')}</option><option value="false">${t('no')}</option></select></label>`
    const type = { string: 'text', date: 'date' }[a.type] || 'number'
    if (a.type === 'string' || (kind === 'core/customer' && !me.now.personal)) return html`<label>${a.name}<input name=${name} type=${type} step="any" value=${query[name] || ''} /></label>`
    return html`<label>${a.name} ≥<input name=${name + '.gte'} type=${type} step="any" value=${query[name + '.gte'] || ''} /></label><label>${a.name} ≤<input name=${name + '.lte'} type=${type} step="any" value=${query[name + '.lte'] || ''} /></label>`
  })
}
