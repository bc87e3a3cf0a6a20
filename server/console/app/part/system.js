// The state of the installation: findings, servers, database, followers of events, backups and the last proof.
import { html } from '../ui.js'
import { t, has, number } from '../words.js'
import { get, can } from '../api.js'
import { useLoad } from '../load.js'
import { Loaded } from './state.js'
import { Table } from './table.js'
import { Badge, Card } from './figures.js'
import { Pace } from './pace.js'
import { When, Since } from './when.js'

// wrong are the findings that need action.
export const wrong = (system) => (system?.findings || []).filter((f) => f.severity !== 'fine')

// size writes a number of bytes.
export const size = (n) => (n == null ? '–' : n < 1 << 20 ? number(n / 1024, 0) + ' KiB' : n < 1 << 30 ? number(n / (1 << 20), 1) + ' MiB' : number(n / (1 << 30), 1) + ' GiB')

// Proof is the card of the last proof of the ledger.
export const Proof = ({ of }) => html`<${Card} label=${t('system.proof')} value=${of ? (of.broken ? t('state.broken') : t('state.held')) : '–'} note=${of && html`<${When} at=${of.at} />`} to="/ledger" />`

export function System() {
  const all = useLoad(() => get('/admin/system'))
  const nodes = [
    { key: 'host', label: t('system.host') },
    { key: 'version', label: t('system.version'), cell: (n) => html`<code>${n.version}</code>` },
    { key: 'started_at', label: t('system.started'), cell: (n) => html`<${When} at=${n.started_at} />` },
    { key: 'seen_at', label: t('sessions.seen'), cell: (n) => html`<${When} at=${n.seen_at} />` },
    { key: 'here', label: t('status'), cell: (n) => html`<${Badge} state=${n.here ? 'active' : 'inactive'} />` },
  ]
  const followers = [
    { key: 'name', label: t('name'), cell: (f) => html`<code>${f.name}</code>` },
    { key: 'behind', label: t('webhook.behind'), right: true, cell: (f) => number(f.behind) },
    { key: 'since', label: t('sessions.since'), cell: (f) => html`<${When} at=${f.since} />` },
  ]
  return html`<${Loaded} of=${all}>${({ data: s }) => html`
    ${wrong(s).length > 0 && html`<div class="rules">${wrong(s).map((f) => html`<div class=${'rule ' + (f.severity === 'warning' ? 'warned' : 'refused')}><header><strong>${has('check.' + f.check) ? t('check.' + f.check) : f.check}</strong><${Badge} state=${f.severity} /></header><p>${f.says}</p>${f.do && html`<code>${f.do}</code>`}</div>`)}</div>`}
    ${s.findings && !wrong(s).length && html`<p class="notice good">${t('system.fine', { n: s.findings.length })}</p>`}
    <div class="cards"><${Card} label=${t('system.program')} value=${s.program.version} note=${s.program.platform} /><${Card} label=${t('system.database')} value=${`${s.database.product} ${s.database.version}`} note=${`${size(s.database.bytes)} · ${t('system.schema', { n: s.database.schema })}`} />
      <${Card} label=${t('system.events')} value=${number(s.tail.head)} /><${Card} label=${t('system.backup')} value=${html`<${When} at=${s.backups.last?.made_at} />`} note=${s.backups.last && size(s.backups.last.bytes)} /><${Proof} of=${s.ledger} /></div>
    ${can('countRequests') && html`<${Pace} />`}
    <h2>${t('system.nodes')}</h2><${Table} answer=${{ data: s.nodes }} columns=${nodes} name="nodes" links=${false} />
    <h2>${t('system.followers')}</h2><${Table} answer=${{ data: s.followers }} columns=${followers} name="followers" links=${false} />
    <p class="small"><${Since} at=${s.at} say=${(at) => t('ledger.at', { at })} /></p>`}</${Loaded}>`
}
