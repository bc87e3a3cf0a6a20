// Users of the console and the signed-in ones.
import { html, useState } from '../ui.js'
import { t, time, lang } from '../words.js'
import { get, post, id, me } from '../api.js'
import { useLoad } from '../load.js'
import { Loaded, Failure, Empty } from './state.js'
import { Table } from './table.js'
import { Badge } from './figures.js'
import { sure, openDialog } from './dialog.js'
import { When } from './when.js'

const roles = ['viewer', 'editor', 'operator', 'owner']

export function Users({ place }) {
  const { cursor, offset } = place.query
  const all = useLoad(() => get('/admin/users', { limit: 50, cursor, offset }), [cursor, offset])
  const [wrong, fail] = useState(null)
  const act = async (path, body, ask) => {
    if (ask && !(await sure(ask, path, true))) return false
    try {
      const { data } = await post(path, body)
      fail(null)
      if (data.path) await openDialog({ title: t('users.link'), content: html`<pre>${location.origin + data.path}</pre><p>${t('users.link.text', { at: time(data.expires_at) })}</p>` })
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
    const made = await act('/admin/users', { login: f.login.value, name: f.name.value, role: f.role.value, personal: f.personal.checked, language: lang.now })
    if (made) form.reset()
  }
  const path = (u) => '/admin/users/' + id(u.user_id)
  const columns = [
    { key: 'login', label: t('sign.login') },
    { key: 'name', label: t('name') },
    { key: 'role', label: t('self.role'), cell: (u) => html`<select aria-label=${t('self.role')} value=${u.role} disabled=${u.login === me.now.login} onChange=${(e) => act(path(u), { role: e.target.value })}>${roles.map((r) => html`<option value=${r}>${r}</option>`)}</select>` },
    { key: 'personal', label: t('self.personal'), cell: (u) => html`<input type="checkbox" aria-label=${t('self.personal')} checked=${u.personal} onChange=${(e) => act(path(u), { personal: e.target.checked })} />` },
    { key: 'state', label: t('status'), cell: (u) => html`<${Badge} state=${u.disabled_at ? t('users.out') : u.second_factor ? t('users.both') : u.passkeys ? t('users.passkey') : u.password ? t('users.password') : t('users.invited')} />`, text: (u) => (u.disabled_at ? 'out' : u.password ? 'in' : 'invited') },
    { key: 'do', label: '', cell: (u) => html`<div class="actions"><button onClick=${() => act(path(u) + '/invite', {}, t('users.invite'))}>${t('users.invite')}</button>
      ${(u.second_factor || u.passkeys > 0) && html`<button onClick=${() => act(path(u) + '/reset-second-factor', {}, t('users.reset'))}>${t('users.reset')}</button>`}
      ${u.disabled_at ? html`<button onClick=${() => act(path(u) + '/disable', { disabled: false })}>${t('users.in')}</button>` : html`<button class="danger" onClick=${() => act(path(u) + '/disable', {}, t('users.disable'))}>${t('users.disable')}</button>`}</div>`, text: () => '' },
  ]
  return html`<p class="lead">${t('users.text')}</p>${wrong && html`<${Failure} error=${wrong} />`}
    <form class="filters" onSubmit=${make}><label>${t('sign.login')}<input name="login" required /></label><label>${t('name')}<input name="name" /></label><label>${t('self.role')}<select name="role">${roles.map((r) => html`<option value=${r}>${r}</option>`)}</select></label>
      <label class="check"><input type="checkbox" name="personal" /> ${t('self.personal')}</label><button class="primary">${t('users.new')}</button></form>
    <${Loaded} of=${all}>${(d) => html`<${Table} answer=${d} columns=${columns} name="users" empty=${html`<${Empty} text=${t('users.none')}><code>loyalty users create --role owner NAME</code></${Empty}>`} />`}</${Loaded}>`
}

export function Sessions({ place }) {
  const { cursor, offset } = place.query
  const all = useLoad(() => get('/admin/sessions', { limit: 50, cursor, offset }), [cursor, offset])
  const [wrong, fail] = useState(null)
  const end = async (s) => {
    if (!(await sure(t('sessions.end'), s.login, true))) return
    try {
      await post(`/admin/sessions/${id(s.session_id)}/end`, {})
      all.again()
    } catch (e) {
      fail(e)
    }
  }
  const columns = [
    { key: 'login', label: t('sign.login') },
    { key: 'created_at', label: t('sessions.since'), cell: (s) => html`<${When} at=${s.created_at} />` },
    { key: 'seen_at', label: t('sessions.seen'), cell: (s) => html`<${When} at=${s.seen_at} />` },
    { key: 'address', label: t('sessions.address'), cell: (s) => html`<code>${s.address}</code>` },
    { key: 'agent', label: t('sessions.agent') },
    { key: 'do', label: '', cell: (s) => html`<button class="danger" onClick=${() => end(s)}>${t('sessions.end')}</button>`, text: () => '' },
  ]
  return html`<p class="lead">${t('sessions.text')}</p>${wrong && html`<${Failure} error=${wrong} />`}<${Loaded} of=${all}>${(d) => html`<${Table} answer=${d} columns=${columns} name="sessions" empty=${html`<${Empty} text=${t('sessions.none')}><code>loyalty users invite NAME</code></${Empty}>`} />`}</${Loaded}>`
}
