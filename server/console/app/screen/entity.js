// One piece of the programme: the form made from its schema, what changes before it is saved, its history.
import { html, useEffect, useState } from '../ui.js'
import { t, title, time } from '../words.js'
import { get, post, can, id, documentOf } from '../api.js'
import { go, guard } from '../router.js'
import { useLoad } from '../load.js'
import { Loaded, Title, Failure } from '../part/state.js'
import { Diff, differences } from '../part/diff.js'
import { sure, openDialog } from '../part/dialog.js'
import { tell } from '../part/toast.js'
import { Fields, AsJSON } from '../form/form.js'
import { plain, clean } from '../form/schema.js'

const platform = ['id', 'module', 'entity', 'created_at', 'updated_at', 'archived_at', 'total', 'available', 'claimed', 'redeemed']

export default function Entity({ place }) {
  const [, module, entity, name] = place.parts
  const kind = `${module}/${entity}`
  const both = useLoad(async () => ({ doc: await documentOf('entities'), found: name ? (await get(`/entities/${kind}/${id(name)}`)).data ?? (await get(`/entities/${kind}/${id(name)}`)) : null }), [kind, name])
  return html`<${Loaded} of=${both}>${({ doc, found }) => html`<${Editor} doc=${doc} kind=${kind} found=${found} again=${both.again} />`}</${Loaded}>`
}

// written are the properties that a form may change; a status that follows from the dates is not among them.
function written(found, schema) {
  if (!found) return {}
  const own = Object.fromEntries(Object.entries(found).filter(([n]) => !platform.includes(n)))
  if (!schema.properties?.status) delete own.status
  return own
}

function Editor({ doc, kind, found, again }) {
  const schema = plain(doc, { $ref: '#/components/schemas/' + doc['x-entities'][kind] })
  const before = written(found, schema)
  const [name, setName] = useState(found?.id || '')
  const [value, setValue] = useState(before)
  const [asText, setText] = useState(false)
  const [error, fail] = useState(null)
  const [key, renew] = useState(() => crypto.randomUUID())
  const changed = differences(clean(before) || {}, clean(value) || {})
  const may = found ? can('updateEntity') && !found.archived_at : can('createEntity')
  useEffect(() => {
    guard.ask = changed.length ? () => t('form.unsaved') : null
  }, [changed.length])
  useEffect(() => () => (guard.ask = null), [])
  const save = async (e) => {
    e?.preventDefault()
    const now = clean(value) || {}
    if (found && !(await openDialog({ title: t('diff.title'), content: html`<${Diff} before=${clean(before) || {}} after=${now} />`, yes: t('save'), no: t('cancel') }))) return
    const body = found ? Object.fromEntries(changed.map((d) => [d.name, now[d.name] ?? null])) : { ...(name && { id: name }), ...now }
    try {
      const saved = await post(found ? `/entities/${kind}/${id(found.id)}` : '/entities/' + kind, body, key)
      guard.ask = null
      renew(crypto.randomUUID())
      fail(null)
      tell(t('saved'))
      found ? again() : go(`/entity/${kind}/${id((saved.data ?? saved).id)}`)
    } catch (refused) {
      fail(refused)
    }
  }
  const archive = async () => {
    if (!(await sure(t('entity.archive'), `${kind} ${found.id}`, true))) return
    try {
      await post(`/entities/${kind}/${id(found.id)}/archive`, {})
      guard.ask = null
      tell(t('done'))
      go('/programme?type=' + kind)
    } catch (refused) {
      fail(refused)
    }
  }
  return html`<${Title} text=${found ? title(found.title || found.name) || found.id : t('entity.new')}>
      <a href=${'#/programme?type=' + kind}>${t('type.' + kind)}</a>${found && can('archiveEntity') && !found.archived_at && html`<button onClick=${archive}>${t('entity.archive')}</button>`}</${Title}>
    ${error && html`<${Failure} error=${error} />`}
    <form onSubmit=${save} onKeyDown=${(e) => e.key === 'Enter' && e.ctrlKey && save(e)}>
      ${!found && html`<label><span class="name">id</span> <span class="small">${t('entity.id')}</span><input name="id" value=${name} onInput=${(e) => setName(e.target.value)} pattern="[A-Za-z0-9._\\-]+" /></label>`}
      <p class="small">${schema.description}</p>
      <button type="button" aria-pressed=${asText} onClick=${() => setText(!asText)}>JSON</button>
      ${asText ? html`<${AsJSON} value=${value} change=${(v) => setValue(v || {})} rows=${24} />` : html`<${Fields} doc=${doc} schema=${schema} value=${value} change=${setValue} errors=${error?.details || []} without=${['id']} />`}
      ${may && html`<div class="actions"><button class="primary" disabled=${!changed.length}>${t('save')}</button><span class="small">${t('form.changes', { n: changed.length })}</span></div>`}
    </form>
    ${found && can('listAudit') && html`<${History} target=${`${kind}/${found.id}`} />`}`
}

function History({ target }) {
  const all = useLoad(() => get('/admin/audit', { target, limit: 20 }), [target])
  return html`<h2>${t('entity.history')}</h2><${Loaded} of=${all}>${({ data }) => html`${data.map((e) => html`<details><summary>${time(e.at)} · ${e.key_id} · ${e.action}</summary><${Diff} before=${e.before} after=${e.after} /></details>`)}${!data.length && html`<p>–</p>`}`}</${Loaded}>`
}
