// What the programme is made of, type by type.
import { html } from '../ui.js'
import { t, title, day, lang } from '../words.js'
import { get, can, documentOf } from '../api.js'
import { filter } from '../router.js'
import { useLoad } from '../load.js'
import { Loaded, Title, Empty } from '../part/state.js'
import { Table } from '../part/table.js'
import { Badge } from '../part/figures.js'

// gaps are the languages that a text of an entity lacks.
function gaps(entity) {
  const texts = Object.values(entity).filter((v) => v && typeof v === 'object' && !Array.isArray(v) && typeof v.en === 'string')
  return lang.all.filter((l) => texts.some((v) => !v[l]))
}

export default function Programme({ place }) {
  const doc = useLoad(() => documentOf('entities'))
  return html`<${Title} text=${t('nav.programme')} /><${Loaded} of=${doc}>${(d) => html`<${Types} types=${Object.keys(d['x-entities'])} place=${place} />`}</${Loaded}>`
}

function Types({ types, place }) {
  const kind = place.query.type || 'rewards/reward'
  const { cursor, offset, search, archived } = place.query
  const all = useLoad(() => get('/entities/' + kind, { limit: 50, cursor, offset, search, archived }), [kind, cursor, search, archived])
  const columns = [
    { key: 'id', label: t('id'), cell: (e) => html`<code>${e.id}</code>` },
    { key: 'name', label: t('name'), cell: (e) => title(e.title || e.name) || '–', text: (e) => title(e.title || e.name) },
    { key: 'status', label: t('status'), cell: (e) => (e.archived_at ? html`<${Badge} state=${t('archived')} />` : e.status ? html`<${Badge} state=${e.status} />` : '–') },
    { key: 'starts_at', label: t('entity.runs'), cell: (e) => (e.starts_at || e.ends_at ? `${e.starts_at ? day(e.starts_at) : '…'} – ${e.ends_at ? day(e.ends_at) : '…'}` : '–') },
    { key: 'gaps', label: t('entity.gaps'), cell: (e) => gaps(e).join(' ') || '–', text: (e) => gaps(e).join(' ') },
    { key: 'updated_at', label: t('entity.changed'), cell: (e) => day(e.updated_at) },
  ]
  return html`<form class="filters" onSubmit=${(e) => (e.preventDefault(), filter(Object.fromEntries(new FormData(e.target))))}>
      <label>${t('entity.type')}<select name="type" value=${kind} onChange=${(e) => filter({ type: e.target.value, search: '' })}>${types.filter((k) => !k.includes('{')).map((k) => html`<option value=${k}>${t('type.' + k)}</option>`)}</select></label>
      <label>${t('search')}<input name="search" type="search" value=${search || ''} /></label>
      <button>${t('search')}</button>
      <button type="button" aria-pressed=${archived === 'true'} onClick=${() => filter({ archived: archived === 'true' ? '' : 'true' })}>${t('archived')}</button>
      ${can('createEntity') && html`<a class="new" href=${'#/entity/' + kind}>${t('entity.new')}</a>`}
    </form>
    <${Loaded} of=${all}>${(d) => html`<${Table} answer=${d} columns=${columns} to=${(e) => `/entity/${kind}/${encodeURIComponent(e.id)}`} name=${kind.replace('/', '-')}
      empty=${html`<${Empty} text=${t('entity.none')}>${can('createEntity') && html`<p><a href=${'#/entity/' + kind}>${t('entity.new')}</a></p>`}<code>loyalty demo</code></${Empty}>`} />`}</${Loaded}>`
}
