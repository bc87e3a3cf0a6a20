// Access keys: made, changed, given a new secret, revoked. A secret is shown once.
import { html, useState } from '../ui.js'
import { t, time, number } from '../words.js'
import { get, post, can, id } from '../api.js'
import { useLoad } from '../load.js'
import { Loaded, Failure, Id } from './state.js'
import { Table } from './table.js'
import { Badge } from './figures.js'
import { sure, openDialog } from './dialog.js'

export function Keys({ place }) {
  const { cursor, offset } = place.query
  const all = useLoad(() => get('/admin/keys', { limit: 50, cursor, offset }), [cursor, offset])
  const [wrong, fail] = useState(null)
  const act = async (path, body, ask) => {
    if (ask && !(await sure(ask, path, true))) return
    try {
      const { data } = await post(path, body)
      fail(null)
      if (data.secret) await openDialog({ title: t('keys.secret'), content: html`<p><code>${data.key_id}</code></p><pre>${data.secret}</pre><p>${t('keys.once')}</p>` })
      all.again()
    } catch (e) {
      fail(e)
    }
  }
  const make = (e) => {
    e.preventDefault()
    const f = e.target.elements
    act('/admin/keys', { label: f.label.value, apis: f.apis.value.split(/[\s,]+/).filter(Boolean), read_only: f.read.checked })
    e.target.reset()
  }
  const columns = [
    { key: 'key_id', label: t('id'), cell: (k) => html`<${Id} value=${k.key_id} />` },
    { key: 'label', label: t('keys.label') },
    { key: 'state', label: t('status'), cell: (k) => html`<${Badge} state=${k.revoked_at ? t('keys.revoked') : k.read_only ? t('keys.read') : t('keys.write')} />`, text: (k) => (k.revoked_at ? 'revoked' : k.read_only ? 'read' : 'read, write') },
    { key: 'apis', label: 'API', cell: (k) => (k.apis.length ? k.apis.join(', ') : t('all')), text: (k) => k.apis.join(' ') },
    { key: 'rate_limit', label: t('keys.limit'), right: true, cell: (k) => number(k.rate_limit) },
    { key: 'secrets', label: t('keys.secrets'), cell: (k) => k.secrets.map((s) => html`<div class="small">${time(s.created_at)}${s.expires_at ? ' → ' + time(s.expires_at) : ''}</div>`), text: (k) => k.secrets.length },
    { key: 'last_used_at', label: t('keys.used'), cell: (k) => time(k.last_used_at) },
    { key: 'do', label: '', cell: (k) => !k.revoked_at && can('rotateKey') && html`<div class="actions"><button onClick=${() => act(`/admin/keys/${id(k.key_id)}/rotate`, {}, t('keys.rotate'))}>${t('keys.rotate')}</button> <button class="danger" onClick=${() => act(`/admin/keys/${id(k.key_id)}/revoke`, {}, t('keys.revoke'))}>${t('keys.revoke')}</button></div>`, text: () => '' },
  ]
  return html`${wrong && html`<${Failure} error=${wrong} />`}
    ${can('createKey') && html`<form class="filters" onSubmit=${make}><label>${t('keys.label')}<input name="label" required /></label><label>API<input name="apis" placeholder="events, customers" /></label><label class="check"><input type="checkbox" name="read" /> ${t('keys.read')}</label><button class="primary">${t('keys.new')}</button></form>`}
    <${Loaded} of=${all}>${(d) => html`<${Table} answer=${d} columns=${columns} name="keys" />`}</${Loaded}>`
}
