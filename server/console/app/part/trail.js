// The audit trail, and what callers did wrong.
import { html } from '../ui.js'
import { t, has, every, time } from '../words.js'
import { get } from '../api.js'
import { filter } from '../router.js'
import { useLoad } from '../load.js'
import { Loaded, Empty } from './state.js'
import { Table } from './table.js'
import { Diff } from './diff.js'

const sent = (e) => (e.preventDefault(), filter(Object.fromEntries(new FormData(e.target))))

// did is what was done, in words; WhoDid is whose key or name it was done with.
export const did = (action) => (has('did.' + action) ? t('did.' + action) : action)
export const WhoDid = ({ of }) => of.actor_kind === 'system' ? t('actor.system') : html`${of.key_id || ''} <span class="small">${of.actor_kind ? t('actor.' + of.actor_kind) : of.key_id ? '' : '–'}</span>`

export function Audit({ place }) {
  const { cursor, offset, action, target, key_id } = place.query
  const all = useLoad(() => get('/admin/audit', { limit: 50, cursor, offset, action, target, key_id }), [cursor, action, target, key_id])
  const columns = [
    { key: 'at', label: t('time'), cell: (e) => time(e.at) },
    { key: 'key_id', label: t('audit.who'), cell: (e) => html`<${WhoDid} of=${e} />` },
    { key: 'action', label: t('audit.what'), cell: (e) => html`<span title=${e.action}>${did(e.action)}</span>` },
    { key: 'target', label: t('audit.target') },
    { key: 'change', label: t('diff.title'), cell: (e) => html`<details><summary>${t('show')}</summary><${Diff} before=${e.before} after=${e.after} /></details>`, text: () => '' },
  ]
  return html`<form class="filters" onSubmit=${sent}><label>${t('audit.what')}<select name="action" value=${action || ''}><option value="">–</option>${every('did.').map((a) => html`<option value=${a}>${did(a)}</option>`)}</select></label><label>${t('audit.target')}<input name="target" value=${target || ''} /></label><label>${t('audit.who')}<input name="key_id" value=${key_id || ''} /></label><button>${t('search')}</button></form>
    <${Loaded} of=${all}>${(d) => html`<${Table} answer=${d} columns=${columns} name="audit" />`}</${Loaded}>`
}

export function FailedRequests({ place }) {
  const { cursor, offset, status, code } = place.query
  const all = useLoad(() => get('/admin/requests/errors', { limit: 50, cursor, offset, status, code }), [cursor, status, code])
  const columns = [
    { key: 'at', label: t('time'), cell: (f) => time(f.at) },
    { key: 'status', label: t('failed.status'), right: true, cell: (f) => html`<button class="link" onClick=${() => filter({ status: f.status })}>${f.status}</button>` },
    { key: 'code', label: t('error.code'), right: true, cell: (f) => (f.code == null ? '–' : html`<button class="link" onClick=${() => filter({ code: f.code })}>${f.code}</button>`) },
    { key: 'route', label: t('failed.route'), cell: (f) => html`<code>${f.method} ${f.route || '–'}</code>`, text: (f) => `${f.method} ${f.route || ''}` },
    { key: 'key_id', label: t('audit.who') },
    { key: 'fields', label: t('failed.fields'), cell: (f) => f.fields.join(', ') || '–', text: (f) => f.fields.join(' ') },
    { key: 'request_id', label: t('error.request'), cell: (f) => html`<code>${f.request_id}</code>` },
  ]
  return html`<form class="filters" onSubmit=${sent}><label>${t('failed.status')}<input name="status" value=${status || ''} inputmode="numeric" /></label><label>${t('error.code')}<input name="code" value=${code || ''} inputmode="numeric" /></label><button>${t('search')}</button></form>
    <${Loaded} of=${all}>${(d) => html`${d.not_kept > 0 && html`<p>${t('failed.dropped', { n: d.not_kept })}</p>`}<${Table} answer=${d} columns=${columns} name="failed" empty=${html`<${Empty} text=${t('failed.none')} />`} />`}</${Loaded}>`
}
