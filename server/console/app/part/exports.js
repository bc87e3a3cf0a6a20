// A table as a file: all of its rows, or the rows of some days.
import { html, useState } from '../ui.js'
import { t, opensAt, closesAt } from '../words.js'
import { get, me, query, id } from '../api.js'
import { Failure } from './state.js'

const tables = ['customers', 'events', 'postings', 'lots', 'purchases', 'coupons', 'claims']

export function Exports() {
  const [wrong, fail] = useState(null)
  const load = async (e) => {
    e.preventDefault()
    const text = (name) => String(new FormData(e.target).get(name) || '')
    const [table, format, from, to] = ['table', 'format', 'from', 'to'].map(text)
    const asked = { format, from: from && opensAt(from), to: to && closesAt(to), personal: text('personal') }
    const path = '/admin/exports/' + id(table)
    try {
      await get(path, { ...asked, limit: 1 }) // a refusal is shown here and not in a file
      fail(null)
      const link = document.createElement('a')
      link.href = '/console/api' + path + query(asked)
      link.download = table + '.' + format
      link.click()
    } catch (error) {
      fail(error)
    }
  }
  return html`<p class="lead">${t('export.text')}</p>${wrong && html`<${Failure} error=${wrong} />`}
    <form class="filters" onSubmit=${load}>
      <label>${t('export.table')}<select name="table">${tables.map((n) => html`<option value=${n}>${t('export.' + n)}</option>`)}</select></label>
      <label>${t('export.format')}<select name="format"><option value="csv">CSV</option><option value="ndjson">JSON</option></select></label>
      <label>${t('from')}<input type="date" name="from" /></label><label>${t('to')}<input type="date" name="to" /></label>
      ${me.now.personal && html`<label class="check"><input type="checkbox" name="personal" value="true" /> ${t('export.personal')}</label>`}<button class="primary">${t('export.do')}</button>
    </form>`
}
