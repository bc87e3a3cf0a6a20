// The entities of the programme, type by type, and when they run.
import { html, useState } from '../ui.js'
import { t, has, title, day, lang } from '../words.js'
import { get, can, documentOf } from '../api.js'
import { filter } from '../router.js'
import { useLoad } from '../load.js'
import { Loaded, Title, Empty, Failure } from '../part/state.js'
import { Table } from '../part/table.js'
import { Badge } from '../part/figures.js'
import { Calendar } from '../part/calendar.js'
import { CustomFilters, customOf } from '../part/custom.js'
import { When } from '../part/when.js'
import { Many, archiveAll } from '../part/many.js'
import { plain } from '../form/schema.js'

// gaps are the languages that a text of an entity lacks.
function gaps(entity) {
  const texts = Object.values(entity).filter((v) => v && typeof v === 'object' && !Array.isArray(v) && typeof v.en === 'string')
  return lang.all.filter((l) => texts.some((v) => !v[l]))
}

const nameOf = (kind) => (has('type.' + kind) ? t('type.' + kind) : kind)

export default function Programme({ place }) {
  const kind = place.query.type || 'rewards/reward'
  const calendar = place.query.view === 'calendar'
  const doc = useLoad(() => documentOf('entities'))
  return html`<${Title} text=${t('nav.programme')}><button aria-pressed=${calendar} onClick=${() => filter({ view: calendar ? '' : 'calendar' })}>${t('calendar.title')}</button>${can('createEntity') && html`<a class="button primary" href=${'#/entity/' + kind}>${has('new.' + kind) ? t('new.' + kind) : t('entity.new')}</a>`}</${Title}>
    ${calendar ? html`<${Calendar} />` : html`<${Loaded} of=${doc}>${(d) => html`<${Types} types=${d['x-entities']} moduleOf=${(k) => d.components.schemas[d['x-entities'][k]]?.['x-module'] || ''} doc=${d} kind=${kind} place=${place} key=${kind} />`}</${Loaded}>`}`
}

// Kinds are the types of entities, grouped by module.
function Kinds({ kinds, moduleOf }) {
  const name = (m) => (m && has('module.' + m) ? t('module.' + m) : t('entity.others'))
  const groups = new Map()
  for (const k of kinds) groups.set(name(moduleOf(k)), [...(groups.get(name(moduleOf(k))) || []), k])
  const by = (a, b) => a.localeCompare(b, lang.now)
  return [...groups.keys()].sort(by).map((g) => html`<optgroup label=${g}>${groups.get(g).map((k) => [nameOf(k), k]).sort(([a], [b]) => by(a, b)).map(([label, k]) => html`<option value=${k}>${label}</option>`)}</optgroup>`)
}

function Types({ types, moduleOf, doc, kind, place }) {
  const { cursor, offset, search, archived } = place.query
  const custom = customOf(place.query)
  const all = useLoad(() => get('/entities/' + kind, { limit: 50, cursor, offset, search, archived, ...custom }), [kind, cursor, search, archived, JSON.stringify(custom)])
  const [some, change] = useState(null)
  const [wrong, fail] = useState(null)
  const away = (rows, unmark) => archiveAll(kind, rows).then((done) => done && (unmark(), fail(null), all.again()), fail)
  const marked = (rows, unmark) => can('changeEntities') && archived !== 'true' && html`<button onClick=${() => change({ rows, unmark })}>${t('many.change')}</button><button class="danger" onClick=${() => away(rows, unmark)}>${t('entity.archive')}</button>`
  const schema = plain(doc, { $ref: '#/components/schemas/' + (types[kind] || types['custom/{kind}']) })
  const columns = [
    { key: 'name', label: t('name'), cell: (e) => html`<a href=${`#/entity/${kind}/${encodeURIComponent(e.id)}`}>${title(e.title || e.name) || e.id}</a>`, text: (e) => title(e.title || e.name) },
    { key: 'id', label: t('id'), cell: (e) => html`<code>${e.id}</code>` },
    { key: 'status', label: t('status'), cell: (e) => (e.archived_at ? html`<${Badge} state=${t('archived')} />` : e.status ? html`<${Badge} state=${e.status} />` : '–') },
    { key: 'starts_at', label: t('entity.runs'), cell: (e) => (e.starts_at || e.ends_at ? `${e.starts_at ? day(e.starts_at) : '…'} – ${e.ends_at ? day(e.ends_at) : '…'}` : '–') },
    { key: 'gaps', label: t('entity.gaps'), cell: (e) => gaps(e).join(' ') || '–', text: (e) => gaps(e).join(' ') },
    { key: 'updated_at', label: t('entity.changed'), cell: (e) => html`<${When} at=${e.updated_at} as=${day} />` },
  ]
  const known = Object.keys(types).filter((k) => !k.includes('{'))
  return html`<form class="filters" onSubmit=${(e) => (e.preventDefault(), filter(Object.fromEntries(new FormData(e.target))))}>
      <label>${t('entity.type')}<select name="type" value=${kind} onChange=${(e) => filter({ type: e.target.value, search: '' })}><${Kinds} kinds=${[...known, ...(known.includes(kind) ? [] : [kind])]} moduleOf=${moduleOf} /></select></label>
      <label>${t('search')}<input name="search" type="search" value=${search || ''} /></label>
      <${CustomFilters} kind=${kind} query=${place.query} />
      <button>${t('search')}</button>
      <button type="button" aria-pressed=${archived === 'true'} onClick=${() => filter({ archived: archived === 'true' ? '' : 'true' })}>${t('archived')}</button>
    </form>
    ${wrong && html`<${Failure} error=${wrong} />`}
    ${some && html`<${Many} key=${some.rows.map((r) => r.id).join(' ')} kind=${kind} doc=${doc} schema=${schema} rows=${some.rows} done=${() => (some.unmark(), change(null), all.again())} close=${() => change(null)} />`}
    <${Loaded} of=${all}>${(d) => html`<${Table} answer=${d} columns=${columns} idOf=${can('changeEntities') && ((e) => e.id)} marked=${marked} to=${(e) => `/entity/${kind}/${encodeURIComponent(e.id)}`} name=${kind.replace('/', '-')}
      empty=${html`<${Empty} text=${t('entity.none')}>${can('createEntity') && html`<a class="button" href=${'#/entity/' + kind}>${has('new.' + kind) ? t('new.' + kind) : t('entity.new')}</a>`}</${Empty}>`} />`}</${Loaded}>`
}
