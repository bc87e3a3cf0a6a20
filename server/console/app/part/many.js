// Changes one property of several entities of one kind at once: it shows the old and the new value of each, and changes
// all or none.
import { html, useState } from '../ui.js'
import { t, title } from '../words.js'
import { post } from '../api.js'
import { Failure } from './state.js'
import { sure } from './dialog.js'
import { tell } from './toast.js'
import { heed } from './warned.js'
import { Table } from './table.js'
import { Fields } from '../form/form.js'
import { label } from '../form/labels.js'
import { forgetChoices } from '../form/choices.js'
import { plain, clean } from '../form/schema.js'

const called = (e) => title(e.title || e.name) || e.id
const same = (a, b) => JSON.stringify(a ?? null) === JSON.stringify(b ?? null)
const shown = (v) => (v == null ? '–' : typeof v === 'object' ? JSON.stringify(v) : String(v))

// send makes changes, all or none; a refusal names the entity instead of its number.
async function send(changes) {
  let saved
  try {
    saved = await post('/entities', { error_handling: 'fail', entities: changes })
  } catch (refused) {
    refused.details = (refused.details || []).map((d) => ({ ...d, field: d.field.replace(/^entities\[(\d+)\](\.data)?/, (_, n) => changes[n].id) }))
    throw refused
  }
  forgetChoices()
  tell(t('done'))
  await heed(saved)
}

// archiveAll archives entities after their names were shown.
export async function archiveAll(kind, rows) {
  if (!(await sure(t('entity.archive'), rows.map(called).join('\n'), true))) return false
  await send(rows.map((r) => ({ method: 'archive', type: kind, id: r.id })))
  return true
}

// Many is the form: rows are the marked ones, schema is their schema.
export function Many({ kind, doc, schema, rows, done, close }) {
  const [name, pick] = useState('')
  const [value, put] = useState({})
  const [wrong, fail] = useState(null)
  const names = Object.keys(schema.properties || {}).filter((n) => n !== 'id' && !schema.properties[n].readOnly)
  const now = clean(value)?.[name]
  const changed = name ? rows.filter((r) => !same(r[name], now)) : []
  const columns = [
    { key: 'name', label: t('name'), cell: called },
    { key: 'before', label: t('diff.before'), cell: (r) => shown(r[name]) },
    { key: 'after', label: t('diff.after'), cell: (r) => (same(r[name], now) ? html`<span class="soft">${t('many.same')}</span>` : shown(now)), text: () => shown(now) },
  ]
  const save = async (e) => {
    e.preventDefault()
    if (!(await sure(t('many.do', { n: changed.length }), `${label(name)}: ${shown(now)}`, now === undefined))) return
    try {
      await send(changed.map((r) => ({ method: 'update', type: kind, id: r.id, data: { [name]: now ?? null } })))
      done()
    } catch (error) {
      fail(error)
    }
  }
  return html`<form class="panel many" onSubmit=${save}><h2>${t('many.title', { n: rows.length })}</h2><p class="small">${t('many.text')}</p>${wrong && html`<${Failure} error=${wrong} />`}
    <label>${t('many.what')}<select name="property" required value=${name} onChange=${(e) => (pick(e.target.value), put({}), fail(null))}><option value="">–</option>${names.map((n) => [label(n), n]).sort().map(([l, n]) => html`<option value=${n}>${l}</option>`)}</select></label>
    ${name && html`<${Fields} key=${name} doc=${doc} schema=${{ type: 'object', properties: { [name]: plain(doc, schema.properties[name]) } }} value=${value} change=${put} errors=${[]} />
      <h3>${t('diff.title')}</h3><${Table} answer=${{ data: rows }} columns=${columns} name="many" links=${false} />`}
    <div class="actions"><button class="primary" disabled=${!changed.length}>${t('many.do', { n: changed.length })}</button><button type="button" onClick=${close}>${t('cancel')}</button></div></form>`
}
