// The whole programme as a file: export it, drop one to see what it would change, apply it.
import { html, useState } from '../ui.js'
import { t } from '../words.js'
import { get, ask, post, can, me } from '../api.js'
import { useLoad } from '../load.js'
import { Loaded, Title, Failure, Loading } from '../part/state.js'
import { did, WhoDid } from '../part/trail.js'
import { Diff } from '../part/diff.js'
import { Badge } from '../part/figures.js'
import { sure } from '../part/dialog.js'
import { tell } from '../part/toast.js'
import { heed, Warned } from '../part/warned.js'
import { saveAs } from '../part/save.js'
import { When } from '../part/when.js'

export default function Configuration() {
  const [wanted, setWanted] = useState(null)
  const [prune, setPrune] = useState(false)
  const [plan, set] = useState({})
  const save = async () => {
    const text = JSON.stringify((await get('/admin/configuration')).data, null, 2)
    saveAs('programme.json', text + '\n', 'application/json')
  }
  const look = async (configuration, away = prune) => {
    setWanted(configuration)
    set({ loading: true })
    try {
      set(await ask('/admin/configuration', { mode: 'plan', prune: away, configuration }))
    } catch (error) {
      set({ error })
    }
  }
  const read = async (file) => {
    if (!file) return
    try {
      const value = JSON.parse(await file.text())
      await look(value.data && !value.settings ? value.data : value)
    } catch (e) {
      set({ error: { message: t('configuration.unreadable') + ' ' + e.message, details: [] } })
    }
  }
  const apply = async () => {
    if (!(await sure(t('configuration.apply'), t('configuration.differences', { n: plan.data.total }), true))) return
    try {
      const done = await post('/admin/configuration', { mode: 'apply', prune, configuration: wanted })
      tell(t('done'))
      await heed(done)
      set({})
    } catch (error) {
      set({ error })
    }
  }
  const drop = (e) => (e.preventDefault(), read(e.dataTransfer.files[0]))
  return html`<${Title} text=${t('nav.configuration')}><button onClick=${save}>${t('configuration.export')}</button></${Title}>
    ${can('applyConfiguration') && html`<div class="empty" onDragOver=${(e) => e.preventDefault()} onDrop=${drop}><p>${t('configuration.drop')}</p>
      <input type="file" accept=".json,application/json" aria-label=${t('configuration.file')} onChange=${(e) => read(e.target.files[0])} />
      <label class="check"><input type="checkbox" checked=${prune} onChange=${(e) => (setPrune(e.target.checked), wanted && look(wanted, e.target.checked))} /> ${t('configuration.prune')}</label></div>`}
    ${plan.loading && html`<${Loading} />`}${plan.error && html`<${Failure} error=${plan.error} />`}
    ${plan.data && html`<section aria-live="polite"><h2>${t('configuration.differences', { n: plan.data.total })}</h2><${Warned} of=${plan.warnings} />
      ${plan.data.differences.map((d) => html`<details class="rule"><summary><${Badge} state=${d.change} /> <code>${d.type || d.section}</code> <strong>${d.id}</strong></summary><${Diff} before=${d.before} after=${d.after} /></details>`)}
      ${plan.data.total > 0 && me.now.role === 'owner' && html`<p><button class="danger" onClick=${apply}>${t('configuration.apply')}</button></p>`}</section>`}
    ${can('listAudit') && html`<${Past} />`}`
}

// ours are the audit actions that change what a configuration holds.
const ours = /^(entity|module|settings|configuration|coupon_pool)\./

function Past() {
  const all = useLoad(async () => ({ data: (await get('/admin/audit', { limit: 200 })).data.filter((e) => ours.test(e.action)).slice(0, 20) }))
  return html`<h2>${t('configuration.past')}</h2><${Loaded} of=${all}>${({ data }) => html`<ul class="tree">${data.map((e) => html`<li><details><summary><${When} at=${e.at} /> · <${WhoDid} of=${e} /> · ${did(e.action)} <code>${e.target}</code></summary><${Diff} before=${e.before} after=${e.after} /></details></li>`)}</ul>`}</${Loaded}>`
}
