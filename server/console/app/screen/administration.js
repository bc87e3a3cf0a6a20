// Administration: users and keys, jobs and settings, failures.
import { html } from '../ui.js'
import { t } from '../words.js'
import { can } from '../api.js'
import { filter } from '../router.js'
import { Title } from '../part/state.js'
import { Keys } from '../part/keys.js'
import { Users, Sessions } from '../part/people.js'
import { Modules, Settings, Jobs } from '../part/running.js'
import { Audit } from '../part/trail.js'
import { FailedRequests } from '../part/failed.js'
import { Exports } from '../part/exports.js'
import { Imports } from '../part/imports.js'
import { System } from '../part/system.js'

const tabs = [
  ['modules', 'listModules', Modules], ['settings', 'getSettings', Settings], ['jobs', 'listJobs', Jobs], ['keys', 'listKeys', Keys],
  ['users', 'listUsers', Users], ['sessions', 'listSessions', Sessions], ['audit', 'listAudit', Audit], ['failed', 'listFailedRequests', FailedRequests], ['imports', 'listImports', Imports], ['exports', 'exportTable', Exports], ['system', 'getSystem', System],
]

export default function Administration({ place }) {
  const open = tabs.filter(([, operation]) => can(operation))
  const [name, , View] = open.find(([n]) => n === place.query.tab) || open[0]
  return html`<${Title} text=${t('nav.administration')} />
    <div class="tabs">${open.map(([n]) => html`<button aria-pressed=${n === name} onClick=${() => filter({ tab: n, action: '', target: '', key_id: '', status: '', code: '', import: '' })}>${t('admin.' + n)}</button>`)}</div>
    <${View} place=${place} key=${name} />`
}
