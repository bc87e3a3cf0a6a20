// Modules, settings and jobs.
import { html, useEffect, useState } from '../ui.js'
import { t, has, number, settle } from '../words.js'
import { get, post, can, id, documentOf } from '../api.js'
import { useLoad } from '../load.js'
import { Loaded, Failure } from './state.js'
import { Table } from './table.js'
import { Badge } from './figures.js'
import { tell } from './toast.js'
import { openDialog } from './dialog.js'
import { Diff, differences } from './diff.js'
import { guard } from '../router.js'
import { Fields, AsJSON } from '../form/form.js'
import { bodyOf, clean } from '../form/schema.js'
import { When } from './when.js'

// agreed shows what would change, and asks whether to do it.
const agreed = (before, after) => openDialog({ title: t('diff.title'), content: html`<${Diff} before=${before} after=${after} />`, yes: t('save'), no: t('cancel') })

// useGuard asks before a changed form is left. Saving lifts the guard while the saved values are read.
function useGuard(changed) {
  useEffect(() => {
    if (!changed) return
    guard.ask = () => t('form.unsaved')
    return () => (guard.ask = null)
  }, [changed])
}

export function Modules() {
  const all = useLoad(async () => ({ doc: await documentOf('administration'), data: (await get('/admin/modules', { limit: 100 })).data }))
  return html`<${Loaded} of=${all}>${({ doc, data }) => html`<div class="rules">${data.map((m) => html`<${Module} key=${m.name} m=${m} doc=${doc} again=${all.again} />`)}</div>`}</${Loaded}>`
}

// formOf is the schema that the documents name after a module: points_economy has PointsEconomyConfig.
const formOf = (doc, name) => doc.components.schemas[name.split('_').map((w) => w[0].toUpperCase() + w.slice(1)).join('') + 'Config']

function Module({ m, doc, again }) {
  const [open, show] = useState(false)
  const form = formOf(doc, m.name)
  const [config, set] = useState(m.config)
  const [wrong, fail] = useState(null)
  const before = clean(m.config) || {}
  const changed = differences(before, clean(config) || {}).length > 0
  useGuard(changed)
  const save = async (body) => {
    if (body.config && !(await agreed(before, body.config))) return
    try {
      await post('/admin/modules/' + id(m.name), body)
      if (body.config) guard.ask = null
      fail(null)
      tell(t('saved'))
      again()
    } catch (e) {
      fail(e)
    }
  }
  const settings = Object.keys(m.config || {}).length > 0
  return html`<div class=${'rule ' + (m.enabled ? 'applied' : '')}><header><span><strong>${has('module.' + m.name) ? t('module.' + m.name) : m.name}</strong> <a class="small" href=${'/docs/modules/' + m.name} target="_blank" rel="noopener" title=${t('module.more')}><code>${m.name}</code></a></span>
      <span class="actions"><${Badge} state=${m.enabled ? t('on') : t('off')} /> ${can('configureModule') && html`<button class="tiny" onClick=${() => save({ enabled: !m.enabled })}>${m.enabled ? t('switch.off') : t('switch.on')}</button>`}</span></header>
    ${has('module.' + m.name) && html`<p class="small">${t('module.' + m.name + '.text')}</p>`}${wrong && html`<${Failure} error=${wrong} />`}
    ${settings && html`<details name="module" onToggle=${(e) => show(e.currentTarget.open)}><summary>${t('modules.config')}</summary>
      ${open && (form ? html`<${Fields} doc=${doc} schema=${form} value=${config} change=${set} path="config" errors=${wrong?.details || []} />` : html`<${AsJSON} value=${config} change=${(v) => set(v || {})} />`)}
      ${can('configureModule') && html`<p><button class="primary" disabled=${!changed} onClick=${() => save({ enabled: m.enabled, config: clean(config) || {} })}>${t('save')}</button></p>`}</details>`}</div>`
}

export function Settings() {
  const both = useLoad(async () => ({ doc: await documentOf('administration'), now: (await get('/admin/settings')).data }))
  return html`<${Loaded} of=${both}>${({ doc, now }) => html`<${SettingsForm} key=${JSON.stringify(now)} doc=${doc} now=${now} again=${both.again} />`}</${Loaded}>`
}

function SettingsForm({ doc, now, again }) {
  const { schema } = bodyOf(doc, '/admin/settings')
  const before = Object.fromEntries(Object.keys(schema.properties).map((n) => [n, now[n]]))
  const [value, set] = useState(before)
  const [wrong, fail] = useState(null)
  const changed = differences(clean(before) || {}, clean(value) || {}).length > 0
  useGuard(changed)
  const save = async (e) => {
    e.preventDefault()
    if (!(await agreed(clean(before) || {}, clean(value) || {}))) return
    try {
      await post('/admin/settings', clean(value) || {})
      guard.ask = null
      settle((await get('/admin/settings')).data)
      fail(null)
      tell(t('saved'))
      again()
    } catch (error) {
      fail(error)
    }
  }
  return html`<form onSubmit=${save}>${wrong && html`<${Failure} error=${wrong} />`}<div class="panel"><${Fields} doc=${doc} schema=${schema} value=${value} change=${set} errors=${wrong?.details || []} /></div>${can('updateSettings') && html`<p><button class="primary" disabled=${!changed}>${t('save')}</button></p>`}</form>`
}

export function Jobs() {
  const all = useLoad(() => get('/admin/jobs', { limit: 100 }))
  const [wrong, fail] = useState(null)
  const run = async (j) => {
    try {
      await post(`/admin/jobs/${id(j.name)}/run`, {})
      fail(null)
      tell(t('done'))
      all.again()
    } catch (e) {
      fail(e)
    }
  }
  const columns = [
    { key: 'name', label: t('name'), cell: (j) => html`<code>${j.name}</code>${has('job.' + j.name) && html`<div class="small about">${t('job.' + j.name)}</div>`}`, text: (j) => j.name },
    { key: 'running', label: t('status'), cell: (j) => html`<${Badge} state=${j.running ? t('jobs.running') : t('jobs.waits')} />` },
    { key: 'last_run_at', label: t('jobs.last'), cell: (j) => html`<${When} at=${j.last_run_at} />` },
    { key: 'last_duration', label: t('jobs.took'), right: true, cell: (j) => (j.last_duration == null ? '–' : number(j.last_duration, 3) + ' s') },
    { key: 'last_result', label: t('jobs.result'), cell: (j) => (j.last_result ? html`${number(j.last_result.done)}${j.last_result.failed ? html` <span class="wrong">${number(j.last_result.failed)}</span>` : ''}${j.last_result.error && html`<div class="small wrong">${j.last_result.error}</div>`}${j.last_result.log && html`<div class="small"><code>${j.last_result.log}</code></div>`}` : '–') },
    { key: 'next_run_at', label: t('jobs.next'), cell: (j) => html`<${When} at=${j.next_run_at} />` },
    { key: 'do', label: '', cell: (j) => can('runJob') && html`<button class="tiny" onClick=${() => run(j)}>${t('jobs.run')}</button>`, text: () => '' },
  ]
  return html`${wrong && html`<${Failure} error=${wrong} />`}<${Loaded} of=${all}>${(d) => html`<${Table} answer=${d} columns=${columns} name="jobs" links=${false} />`}</${Loaded}>`
}
