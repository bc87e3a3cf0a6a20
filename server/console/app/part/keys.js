// Access keys: create, change, renew the secret, revoke. A secret is shown once.
import { html, useState } from '../ui.js'
import { t, time, day, number } from '../words.js'
import { get, post, can, id } from '../api.js'
import { useLoad } from '../load.js'
import { Loaded, Failure, Id, Empty } from './state.js'
import { Table } from './table.js'
import { Badge } from './figures.js'
import { sure, openDialog } from './dialog.js'
import { When } from './when.js'

const listed = (text) => text.split(/[\s,]+/).filter(Boolean)

// Left is how long an old secret still signs.
function Left({ until }) {
  const hours = Math.max(0, Math.ceil((Date.parse(until) - Date.now()) / 3600000))
  return html`<span title=${time(until)}>${hours > 48 ? t('keys.days', { n: Math.floor(hours / 24) }) : t('keys.hours', { n: hours })}</span>`
}

export function Keys({ place }) {
  const { cursor, offset } = place.query
  const all = useLoad(() => get('/admin/keys', { limit: 50, cursor, offset }), [cursor, offset])
  const [wrong, fail] = useState(null)
  const act = async (path, body, ask) => {
    if (ask && !(await sure(ask, path, true))) return false
    try {
      const { data } = await post(path, body)
      fail(null)
      if (data.secret) await openDialog({ title: t('keys.secret'), content: html`<p><code>${data.key_id}</code></p><pre>${data.secret}</pre><p>${t('keys.once')}</p>` })
      all.again()
      return true
    } catch (e) {
      fail(e)
      return false
    }
  }
  const make = async (e) => {
    e.preventDefault()
    const form = e.target
    const f = form.elements
    // a refused form stays, to be corrected
    const made = await act('/admin/keys', { label: f.label.value, apis: listed(f.apis.value), addresses: listed(f.addresses.value), read_only: f.read.checked, ...(f.ends.value && { expires_at: f.ends.value }) })
    if (made) form.reset()
  }
  const columns = [
    { key: 'key_id', label: t('id'), cell: (k) => html`<${Id} value=${k.key_id} />` },
    { key: 'label', label: t('keys.label') },
    { key: 'state', label: t('status'), cell: (k) => html`<${Badge} state=${k.revoked_at ? t('keys.revoked') : k.read_only ? t('keys.read') : t('keys.write')} />${k.expires_at && html`<div class="small">${t('keys.ends')} <${When} at=${k.expires_at} as=${day} /></div>`}`, text: (k) => (k.revoked_at ? 'revoked' : k.read_only ? 'read' : 'read, write') },
    { key: 'apis', label: 'API', cell: (k) => html`${k.apis.length ? k.apis.join(', ') : t('all')}<div class="small about">${t('keys.addresses')} ${k.addresses.length ? html`<code>${k.addresses.join(', ')}</code>` : t('keys.everywhere')}</div>`, text: (k) => [...k.apis, ...k.addresses].join(' ') },
    { key: 'rate_limit', label: t('keys.limit'), right: true, cell: (k) => number(k.rate_limit) },
    { key: 'secrets', label: t('keys.secrets'), cell: (k) => k.secrets.map((s) => html`<div class="small"><${When} at=${s.created_at} as=${day} />${s.expires_at && html` · <${Left} until=${s.expires_at} />`}</div>`), text: (k) => k.secrets.length },
    { key: 'last_used_at', label: t('keys.used'), cell: (k) => html`<${When} at=${k.last_used_at} />` },
    { key: 'do', label: '', cell: (k) => !k.revoked_at && can('rotateKey') && html`<div class="actions"><button onClick=${() => act(`/admin/keys/${id(k.key_id)}/rotate`, {}, t('keys.rotate'))}>${t('keys.rotate')}</button> <button class="danger" onClick=${() => act(`/admin/keys/${id(k.key_id)}/revoke`, {}, t('keys.revoke'))}>${t('keys.revoke')}</button></div>`, text: () => '' },
  ]
  return html`<p class="lead">${t('keys.text')}</p>${wrong && html`<${Failure} error=${wrong} />`}
    ${can('createKey') && html`<form class="filters" onSubmit=${make}><label>${t('keys.label')}<input name="label" required /></label><label>API<input name="apis" placeholder="events, customers" /></label><label>${t('keys.addresses')}<input name="addresses" placeholder="192.0.2.0/24" /></label><label>${t('keys.ends')}<input name="ends" type="date" /></label><label class="check"><input type="checkbox" name="read" /> ${t('keys.read')}</label><button class="primary">${t('keys.new')}</button></form>`}
    <${Loaded} of=${all}>${(d) => html`<${Table} answer=${d} columns=${columns} name="keys" empty=${html`<${Empty} text=${t('keys.none')}><code>loyalty keys create --label till</code></${Empty}>`} />`}</${Loaded}>`
}
