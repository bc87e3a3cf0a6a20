// The audit trail.
import { html } from '../ui.js'
import { t, has, every } from '../words.js'
import { get, can } from '../api.js'
import { filter } from '../router.js'
import { useLoad } from '../load.js'
import { Loaded, Empty } from './state.js'
import { Table } from './table.js'
import { Diff } from './diff.js'
import { When } from './when.js'

const sent = (e) => (e.preventDefault(), filter(Object.fromEntries(new FormData(e.target))))

// did is an entry's action in words; WhoDid is the key or the user that did it.
export const did = (action) => (has('did.' + action) ? t('did.' + action) : action)
export const WhoDid = ({ of }) => of.actor_kind === 'system' ? html`<span class="nowrap">${t('actor.system')}</span>` : html`${of.key_id || ''} <span class="small">${of.actor_kind ? t('actor.' + of.actor_kind) : of.key_id ? '' : '–'}</span>`

export function Audit({ place }) {
  const { cursor, offset, action, target, key_id } = place.query
  const all = useLoad(() => get('/admin/audit', { limit: 50, cursor, offset, action, target, key_id }), [cursor, action, target, key_id])
  const columns = [
    { key: 'at', label: t('time'), cell: (e) => html`<${When} at=${e.at} />` },
    { key: 'key_id', label: t('audit.who'), cell: (e) => html`<${WhoDid} of=${e} />` },
    { key: 'action', label: t('audit.what'), cell: (e) => html`<span title=${e.action}>${did(e.action)}</span>` },
    { key: 'target', label: t('audit.target') },
    { key: 'change', label: t('diff.title'), cell: (e) => html`<details><summary>${t('show')}</summary><${Diff} before=${e.before} after=${e.after} /></details>`, text: () => '' },
  ]
  const narrow = action || target || key_id
  return html`<p class="lead">${t('audit.text')}</p><form class="filters" onSubmit=${sent}><label>${t('audit.what')}<select name="action" value=${action || ''}><option value="">–</option>${every('did.').map((a) => html`<option value=${a}>${did(a)}</option>`)}</select></label><label>${t('audit.target')}<input name="target" value=${target || ''} /></label><label>${t('audit.who')}<input name="key_id" value=${key_id || ''} /></label><button>${t('search')}</button></form>
    <${Loaded} of=${all}>${(d) => html`<${Table} answer=${d} columns=${columns} name="audit" empty=${!narrow && html`<${Empty} text=${t('audit.none')}>${can('createEntity') && html`<a class="button" href="#/entity/rewards/reward">${t('reward.new')}</a>`}</${Empty}>`} />`}</${Loaded}>`
}
