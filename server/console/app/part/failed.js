// The failed requests of callers: by code, with advice for each, and one by one.
import { html, useState } from '../ui.js'
import { t, number } from '../words.js'
import { get } from '../api.js'
import { filter } from '../router.js'
import { useLoad } from '../load.js'
import { Loaded, Empty } from './state.js'
import { Table } from './table.js'
import { When } from './when.js'

const sent = (e) => (e.preventDefault(), filter(Object.fromEntries(new FormData(e.target))))
const newest = 500 // requests that are grouped by their codes

// groupsOf groups requests by code, the largest group first.
export function groupsOf(requests) {
  const groups = new Map()
  for (const r of requests) {
    const g = groups.get(r.code) || { code: r.code, status: r.status, n: 0, at: r.at, routes: new Set(), fields: new Set() }
    g.n++
    g.routes.add(`${r.method} ${r.route || '–'}`)
    r.fields.forEach((f) => g.fields.add(f))
    groups.set(r.code, g)
  }
  return [...groups.values()].filter((g) => g.code != null).sort((a, b) => b.n - a.n)
}

function Groups() {
  const all = useLoad(() => get('/admin/requests/errors', { limit: newest }))
  const some = (set) => [...set].slice(0, 3).join(', ') + (set.size > 3 ? ' …' : '')
  return html`<${Loaded} of=${all}>${({ data }) => data.length > 0 && html`<h2>${t('failed.by')}</h2><div class="rules">${groupsOf(data).map((g) => html`<div class="rule" key=${g.code}><header><span><button class="link" onClick=${() => filter({ code: g.code })}>${t('error.code')} ${g.code}</button> <span class="small">${g.status} · ${t('failed.last')} <${When} at=${g.at} /></span></span><strong>${number(g.n)}</strong></header>
      <p class="small"><code>${some(g.routes)}</code>${g.fields.size > 0 && html` · ${some(g.fields)}`}</p><${Advice} code=${g.code} /></div>`)}</div><h2>${t('failed.all')}</h2>`}</${Loaded}>`
}

// Advice is the advice on a code's page in the portal, which is written in English.
function Advice({ code }) {
  const [text, set] = useState('')
  const page = '/docs/errors/' + code
  const read = (open) => open && !text && fetch(page + '.md').then((r) => (r.ok ? r.text() : '')).then((md) => set(/\*\*What to do\.\*\* (.*)/.exec(md)?.[1] || ''), () => {})
  return html`<details class="data" onToggle=${(e) => read(e.currentTarget.open)}><summary>${t('failed.do')}</summary>${text && html`<p lang="en">${text.replaceAll('`', '')}</p>`}<p><a href=${page} target="_blank" rel="noopener">${t('failed.more')}</a></p></details>`
}

export function FailedRequests({ place }) {
  const { cursor, offset, status, code } = place.query
  const all = useLoad(() => get('/admin/requests/errors', { limit: 50, cursor, offset, status, code }), [cursor, status, code])
  const columns = [
    { key: 'at', label: t('time'), cell: (f) => html`<${When} at=${f.at} />` },
    { key: 'status', label: t('failed.status'), right: true, cell: (f) => html`<button class="link" onClick=${() => filter({ status: f.status })}>${f.status}</button>` },
    { key: 'code', label: t('error.code'), right: true, cell: (f) => (f.code == null ? '–' : html`<button class="link" onClick=${() => filter({ code: f.code })}>${f.code}</button>`) },
    { key: 'route', label: t('failed.route'), cell: (f) => html`<code>${f.method} ${f.route || '–'}</code>`, text: (f) => `${f.method} ${f.route || ''}` },
    { key: 'key_id', label: t('audit.who') },
    { key: 'fields', label: t('failed.fields'), cell: (f) => f.fields.join(', ') || '–', text: (f) => f.fields.join(' ') },
    { key: 'request_id', label: t('error.request'), cell: (f) => html`<code>${f.request_id}</code>` },
  ]
  const narrowed = Boolean(status || code)
  return html`${!narrowed && !cursor && html`<${Groups} />`}<form class="filters" onSubmit=${sent}><label>${t('failed.status')}<input name="status" value=${status || ''} inputmode="numeric" /></label><label>${t('error.code')}<input name="code" value=${code || ''} inputmode="numeric" /></label><button>${t('search')}</button></form>
    <${Loaded} of=${all}>${(d) => html`${d.not_kept > 0 && html`<p>${t('failed.dropped', { n: d.not_kept })}</p>`}<${Table} answer=${d} columns=${columns} name="failed" empty=${narrowed ? undefined : html`<${Empty} text=${t('failed.none')} />`} />`}</${Loaded}>`
}
