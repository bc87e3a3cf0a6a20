// Customers: found by the beginning of a name, by state and list; one of them leads to their page.
import { html } from '../ui.js'
import { t, number, day } from '../words.js'
import { get, id } from '../api.js'
import { filter } from '../router.js'
import { useLoad } from '../load.js'
import { Loaded, Title, Empty } from '../part/state.js'
import { Table } from '../part/table.js'
import { Badge } from '../part/figures.js'

const asked = ['search', 'status', 'list', 'email', 'cursor', 'offset', 'language']

export default function Customers({ place }) {
  const q = Object.fromEntries(asked.map((n) => [n, place.query[n]]))
  const { cursor, offset, ...narrowing } = q
  const all = useLoad(() => get('/customers', { limit: 50, ...q }), [JSON.stringify(q)])
  const count = useLoad(() => get('/customers/-/count', narrowing), [JSON.stringify(narrowing)])
  const columns = [
    { key: 'id', label: t('customer.id'), cell: (c) => html`<a href=${'#/customer/' + id(c.id)}><code>${c.id}</code></a>` },
    { key: 'name', label: t('customer.name'), cell: (c) => [c.first_name, c.last_name].filter(Boolean).join(' ') || '–', text: (c) => [c.first_name, c.last_name].filter(Boolean).join(' ') },
    { key: 'email', label: t('customer.email') },
    { key: 'status', label: t('status'), cell: (c) => html`<${Badge} state=${c.status} />` },
    { key: 'spendable', label: t('points.spendable'), right: true, cell: (c) => number(c.spendable) },
    { key: 'score', label: t('points.score'), right: true, cell: (c) => number(c.score) },
    { key: 'created_at', label: t('customer.since'), cell: (c) => day(c.created_at) },
  ]
  return html`<${Title} text=${t('nav.customers')}>${count.data && html`<span>${t('customers.count', { n: count.data.data.count })}</span>`}</${Title}>
    <form class="filters" onSubmit=${(e) => (e.preventDefault(), filter(Object.fromEntries(new FormData(e.target))))}>
      <label>${t('search')}<input name="search" type="search" value=${place.query.search || ''} placeholder=${t('customers.search')} /></label>
      <label>${t('status')}<select name="status" value=${place.query.status || ''}><option value="">–</option>${['active', 'suspended', 'inactive', 'opted_out', 'merged'].map((s) => html`<option value=${s}>${s}</option>`)}</select></label>
      <label>${t('customers.list')}<input name="list" value=${place.query.list || ''} /></label>
      <button>${t('search')}</button>
    </form>
    <${Loaded} of=${all}>${(d) => html`<${Table} answer=${d} columns=${columns} to=${(c) => '/customer/' + id(c.id)} name="customers"
      empty=${html`<${Empty} text=${t('customers.none')}><code>loyalty demo</code></${Empty}>`} />`}</${Loaded}>`
}
