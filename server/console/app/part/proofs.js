// Earlier proofs of the ledger: when, by which user, and what did not hold.
import { html } from '../ui.js'
import { t, number } from '../words.js'
import { get } from '../api.js'
import { useLoad } from '../load.js'
import { Loaded, Empty } from './state.js'
import { WhoDid } from './trail.js'
import { Table } from './table.js'
import { Badge } from './figures.js'
import { When } from './when.js'

const verdict = (p) => (p.broken ? 'broken' : p.unchecked ? 'could_not_check' : 'held')
const named = (n, ids) => (n ? [number(n), ids.join(', ')].filter(Boolean).join(': ') : '–')

// Proofs lists them; made changes with each proof that is made on this page.
export function Proofs({ place, made }) {
  const { cursor, offset } = place.query
  const all = useLoad(() => get('/admin/ledger/proofs', { limit: 10, cursor, offset }), [cursor, made])
  const columns = [
    { key: 'at', label: t('time'), cell: (p) => html`<${When} at=${p.at} />` },
    { key: 'actor_kind', label: t('audit.who'), cell: (p) => html`<${WhoDid} of=${p} />`, text: (p) => p.key_id || p.actor_kind },
    { key: 'verdict', label: t('status'), cell: (p) => html`<${Badge} state=${verdict(p)} />`, text: verdict },
    { key: 'held', label: t('ledger.proofs.held'), right: true, cell: (p) => number(p.held) },
    { key: 'broken', label: t('ledger.proofs.broken'), cell: (p) => named(p.broken, p.broken_ids) },
    { key: 'unchecked', label: t('ledger.proofs.unchecked'), cell: (p) => named(p.unchecked, p.unchecked_ids) },
  ]
  return html`<h2>${t('ledger.proofs')}</h2>
    <${Loaded} of=${all}>${(d) => html`<${Table} answer=${d} columns=${columns} name="proofs" empty=${html`<${Empty} text=${t('ledger.proofs.none')} />`} />`}</${Loaded}>`
}
