// Customers: found by the beginning of a name (by whole names if masked names must not be guessed), by state, list and
// custom attributes; marked customers can be put on a list.
import { html, useState } from '../ui.js'
import { t, number, day } from '../words.js'
import { get, can, id, me } from '../api.js'
import { filter, go } from '../router.js'
import { useLoad } from '../load.js'
import { Loaded, Title, Empty } from '../part/state.js'
import { Table } from '../part/table.js'
import { Badge } from '../part/figures.js'
import { Bulk } from '../part/bulk.js'
import { CustomFilters, customOf } from '../part/custom.js'
import { useChoices } from '../form/choices.js'
import { When } from '../part/when.js'

const asked = ['search', 'id', 'status', 'list', 'tier', 'email', 'cursor', 'offset', 'language', 'score.gte', 'sort', 'order']

const nameOf = (c) => [c.first_name, c.last_name].filter(Boolean).join(' ')

export default function Customers({ place }) {
  const { search } = place.query
  // a user who may not see personal data finds a customer by a complete address, else by an id
  const named = search && !me.now.personal && !search.includes('@')
  const query = named ? { ...place.query, search: undefined, id: search.trim() } : place.query
  const q = { ...Object.fromEntries(asked.map((n) => [n, query[n]])), ...customOf(query) }
  const { cursor, offset, sort, order, ...narrowing } = q
  const all = useLoad(() => get('/customers', { limit: 50, ...q }), [JSON.stringify(q)])
  const count = useLoad(() => get('/customers/-/count', narrowing), [JSON.stringify(narrowing)])
  const lists = useChoices('list')
  const tiers = useChoices('tier')
  const [adding, add] = useState(null)
  const columns = [
    { key: 'id', label: t('customer.id'), cell: (c) => html`<a href=${'#/customer/' + id(c.id)}><code>${c.id}</code></a>` },
    { key: 'name', label: t('customer.name'), sort: me.now.personal && 'last_name', cell: (c) => nameOf(c) || '–', text: nameOf },
    { key: 'email', label: t('customer.email'), sort: me.now.personal && 'email' },
    { key: 'status', label: t('status'), cell: (c) => html`<${Badge} state=${c.status} />` },
    { key: 'spendable', label: t('points.spendable'), right: true, cell: (c) => number(c.spendable) },
    { key: 'score', label: t('points.score'), right: true, cell: (c) => number(c.score) },
    { key: 'created_at', label: t('customer.since'), sort: 'created_at', cell: (c) => html`<${When} at=${c.created_at} as=${day} />` },
  ]
  const marked = (rows) => can('addToCustomerList') && html`<button onClick=${() => add(rows.map((c) => c.id).join('\n'))}>${t('bulk.add')}</button>`
  const narrowed = Object.values(narrowing).some(Boolean)
  return html`<${Title} text=${t('nav.customers')}>${count.data && html`<span class="soft">${t('customers.count', { n: count.data.data.count })}</span>`}${can('addToCustomerList') && html`<button aria-expanded=${adding !== null} onClick=${() => add(adding === null ? '' : null)}>${t('bulk.upload')}</button>`}</${Title}>
    ${adding !== null && html`<${AddToList} key=${adding} text=${adding} lists=${lists} />`}
    <form class="filters" onSubmit=${(e) => (e.preventDefault(), filter(Object.fromEntries(new FormData(e.target))))}>
      <label>${t('search')}<input name="search" type="search" value=${search || ''} placeholder=${me.now.personal ? t('customers.search') : t('customers.search.whole')} /></label>
      <label>${t('status')}<select name="status" value=${place.query.status || ''}><option value="">–</option>${['active', 'suspended', 'inactive', 'opted_out', 'merged'].map((s) => html`<option value=${s}>${t('state.' + s)}</option>`)}</select></label>
      <${Pick} name="list" label=${t('customers.list')} value=${place.query.list} of=${lists} />
      ${(tiers.length > 0 || place.query.tier) && html`<${Pick} name="tier" label=${t('field.tier')} value=${place.query.tier} of=${tiers} />`}
      <label>${t('customers.score')}<input name="score.gte" type="number" value=${place.query['score.gte'] || ''} /></label>
      <${CustomFilters} kind="core/customer" query=${place.query} />
      <button>${t('search')}</button>
    </form>
    <${Loaded} of=${all}>${(d) => html`<${Table} answer=${d} columns=${columns} to=${(c) => '/customer/' + id(c.id)} name="customers" idOf=${(c) => c.id} marked=${marked}
      empty=${narrowed ? html`<${Empty} text=${me.now.personal ? t('customers.nobody') : t('customers.nobody.whole')}>${q.search && html`<button onClick=${() => import('../part/find.js').then(({ find }) => find(q.search)).then(go)}>${t('customers.open', { text: q.search })}</button>`}</${Empty}>` : html`<${Empty} text=${t('customers.none')}><code>loyalty demo</code></${Empty}>`} />`}</${Loaded}>`
}

// Pick filters by one of some entities. A value from the address that is not among them stays selected.
function Pick({ name, label, value = '', of }) {
  return html`<label>${label}<select name=${name} value=${value}><option value="">–</option>${value && !of.some((o) => o.id === value) && html`<option value=${value}>${value}</option>`}${of.map((o) => html`<option value=${o.id}>${o.name || o.id}</option>`)}</select></label>`
}

function AddToList({ text, lists }) {
  const [list, choose] = useState(lists[0]?.id || '')
  const pick = html`<label>${t('customers.list')}<select name="to" required value=${list} onChange=${(e) => choose(e.target.value)}><option value="">–</option>${lists.map((l) => html`<option value=${l.id}>${l.name || l.id}</option>`)}</select></label>
    ${can('createEntity') && html`<p class="small"><a href="#/entity/core/customer-list">${t('new.core/customer-list')}</a></p>`}`
  return html`<${Bulk} begin=${list && '/v1/bulk-operation/customer-list/add/' + id(list)} status="/v1/bulk-operation/customer-list" title=${t('bulk.add')} text=${text} more=${pick} />`
}
