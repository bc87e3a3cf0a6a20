// What the programme is made of, type by type, and what of it runs when.
import { html } from '../ui.js'
import { t, has, title, day, lang } from '../words.js'
import { get, can, documentOf } from '../api.js'
import { filter } from '../router.js'
import { useLoad } from '../load.js'
import { Loaded, Title, Empty } from '../part/state.js'
import { Table } from '../part/table.js'
import { Badge } from '../part/figures.js'
import { Calendar } from '../part/calendar.js'
import { CustomFilters, customOf } from '../part/custom.js'

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
    ${calendar ? html`<${Calendar} />` : html`<${Loaded} of=${doc}>${(d) => html`<${Types} types=${Object.keys(d['x-entities'])} kind=${kind} place=${place} />`}</${Loaded}>`}`
}

function Types({ types, kind, place }) {
  const { cursor, offset, search, archived } = place.query
  const custom = customOf(place.query)
  const all = useLoad(() => get('/entities/' + kind, { limit: 50, cursor, offset, search, archived, ...custom }), [kind, cursor, search, archived, JSON.stringify(custom)])
  const columns = [
    { key: 'name', label: t('name'), cell: (e) => html`<a href=${`#/entity/${kind}/${encodeURIComponent(e.id)}`}>${title(e.title || e.name) || e.id}</a>`, text: (e) => title(e.title || e.name) },
    { key: 'id', label: t('id'), cell: (e) => html`<code>${e.id}</code>` },
    { key: 'status', label: t('status'), cell: (e) => (e.archived_at ? html`<${Badge} state=${t('archived')} />` : e.status ? html`<${Badge} state=${e.status} />` : '–') },
    { key: 'starts_at', label: t('entity.runs'), cell: (e) => (e.starts_at || e.ends_at ? `${e.starts_at ? day(e.starts_at) : '…'} – ${e.ends_at ? day(e.ends_at) : '…'}` : '–') },
    { key: 'gaps', label: t('entity.gaps'), cell: (e) => gaps(e).join(' ') || '–', text: (e) => gaps(e).join(' ') },
    { key: 'updated_at', label: t('entity.changed'), cell: (e) => day(e.updated_at) },
  ]
  const known = types.filter((k) => !k.includes('{'))
  return html`<form class="filters" onSubmit=${(e) => (e.preventDefault(), filter(Object.fromEntries(new FormData(e.target))))}>
      <label>${t('entity.type')}<select name="type" value=${kind} onChange=${(e) => filter({ type: e.target.value, search: '' })}>${[...known, ...(known.includes(kind) ? [] : [kind])].map((k) => [nameOf(k), k]).sort(([a], [b]) => a.localeCompare(b, lang.now)).map(([name, k]) => html`<option value=${k}>${name}</option>`)}</select></label>
      <label>${t('search')}<input name="search" type="search" value=${search || ''} /></label>
      <${CustomFilters} kind=${kind} query=${place.query} />
      <button>${t('search')}</button>
      <button type="button" aria-pressed=${archived === 'true'} onClick=${() => filter({ archived: archived === 'true' ? '' : 'true' })}>${t('archived')}</button>
    </form>
    <${Loaded} of=${all}>${(d) => html`<${Table} answer=${d} columns=${columns} to=${(e) => `/entity/${kind}/${encodeURIComponent(e.id)}`} name=${kind.replace('/', '-')}
      empty=${html`<${Empty} text=${t('entity.none')}>${can('createEntity') && html`<a class="button" href=${'#/entity/' + kind}>${has('new.' + kind) ? t('new.' + kind) : t('entity.new')}</a>`}</${Empty}>`} />`}</${Loaded}>`
}
