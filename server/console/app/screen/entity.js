// One entity of the programme: the form made from its schema, checked while it is written, its changes before they are
// saved, where it is used, its history.
import { html, useEffect, useState } from '../ui.js'
import { t, has, about, title } from '../words.js'
import { get, post, can, id, documentOf } from '../api.js'
import { go, guard } from '../router.js'
import { useLoad } from '../load.js'
import { Loaded, Title, Failure, Id } from '../part/state.js'
import { Badge } from '../part/figures.js'
import { did, WhoDid } from '../part/trail.js'
import { Diff, differences } from '../part/diff.js'
import { sure, openDialog } from '../part/dialog.js'
import { tell } from '../part/toast.js'
import { heed } from '../part/warned.js'
import { Uses } from '../part/uses.js'
import { Usage } from '../part/usage.js'
import { Picture } from '../part/picture.js'
import { When } from '../part/when.js'
import { Fields, AsJSON } from '../form/form.js'
import { forgetChoices } from '../form/choices.js'
import { useCheck } from '../form/check.js'
import { plain, clean, first } from '../form/schema.js'

const platform = ['id', 'module', 'entity', 'created_at', 'updated_at', 'archived_at', 'total', 'available', 'claimed', 'redeemed']

// begun are the initial values of a new entity, so that the first save does what users expect.
const begun = { 'automation/campaign': { trigger: 'checkout', status: 'active', effects: [{ type: 'points' }] }, 'rewards/reward': { type: 'physical' }, 'coupons/pool': { source: 'generated', pattern: 'SAVE-####-@@@@', coupon: {} }, 'tiers/structure': { base: 'points' } }

export default function Entity({ place }) {
  const [, module, entity, name] = place.parts
  const kind = `${module}/${entity}`
  const both = useLoad(async () => {
    const doc = await documentOf('entities')
    const found = name ? await get(`/entities/${kind}/${id(name)}`) : null
    return { doc, found: found?.data ?? found }
  }, [kind, name])
  return html`<${Loaded} of=${both} title=${name || kindName(kind)}>${({ doc, found }) => html`<${Editor} key=${`${kind}/${found?.id}/${found?.updated_at}`} doc=${doc} kind=${kind} found=${found} again=${both.again} step=${place.query.step} />`}</${Loaded}>`
}

// written are the properties that a form may change; a status that follows from the dates is not among them.
function written(found, schema, kind) {
  if (!found) return structuredClone(begun[kind] || {})
  const own = Object.fromEntries(Object.entries(found).filter(([n]) => !platform.includes(n)))
  if (!schema.properties?.status) delete own.status
  return own
}

// list is the screen with the entities of a kind.
const list = (kind) => ({ 'automation/campaign': '/campaigns', 'rewards/reward': '/rewards', 'coupons/pool': '/rewards?tab=pools' })[kind] || '/programme?type=' + kind
const kindName = (kind) => (has('type.' + kind) ? t('type.' + kind) : kind)

function Editor({ doc, kind, found, again, step }) {
  const schema = plain(doc, { $ref: '#/components/schemas/' + (doc['x-entities'][kind] || doc['x-entities']['custom/{kind}']) })
  const before = written(found, schema, kind)
  const [name, setName] = useState(found?.id || '')
  const [value, setValue] = useState(before)
  const [asText, setText] = useState(false)
  const [error, fail] = useState(null)
  const changed = differences(clean(before) || {}, clean(value) || {})
  const may = found ? can('updateEntity') && !found.archived_at : can('createEntity')
  const checked = useCheck(kind, found?.id, value, may && changed.length > 0)
  useEffect(() => {
    guard.ask = changed.length ? () => t('form.unsaved') : null
  }, [changed.length])
  useEffect(() => () => (guard.ask = null), [])
  const save = async (e) => {
    e?.preventDefault()
    const now = clean(value) || {}
    if (found && !(await openDialog({ title: t('diff.title'), content: html`<${Diff} before=${clean(before) || {}} after=${now} />`, yes: t('save'), no: t('cancel') }))) return
    const body = found ? Object.fromEntries(changed.map((d) => [d.name, now[d.name] ?? null])) : { ...(name && { id: name }), ...now }
    try {
      const saved = await post(found ? `/entities/${kind}/${id(found.id)}` : '/entities/' + kind, body)
      guard.ask = null
      fail(null)
      forgetChoices()
      tell(t('saved'))
      await heed(saved)
      found ? again() : go(`/entity/${kind}/${id((saved.data ?? saved).id)}${step ? '?step=' + step : ''}`)
    } catch (refused) {
      fail(refused)
      window.scrollTo({ top: 0 })
    }
  }
  const archive = async () => {
    if (!(await sure(t('entity.archive'), `${kind} ${found.id}`, true))) return
    try {
      await post(`/entities/${kind}/${id(found.id)}/archive`, {})
      guard.ask = null
      forgetChoices()
      tell(t('done'))
      go(list(kind))
    } catch (refused) {
      fail(refused)
    }
  }
  const errors = [...(error?.details || []), ...checked.filter((c) => !error?.details.some((d) => d.field === c.field))]
  return html`<p class="crumb"><a href=${'#' + list(kind)}>${kindName(kind)}</a> ›</p>
    <${Title} text=${found ? title(found.title || found.name) || found.id : has('new.' + kind) ? t('new.' + kind) : t('entity.new')}>
      ${found && html`<${Id} value=${found.id} />`}${found?.status && html`<${Badge} state=${found.status} />`}${found?.archived_at && html`<${Badge} state=${t('archived')} />`}
      ${found?.image && html`<${Picture} from=${found.image} name=${title(found.title) || found.id} />`}
      ${found && tried(kind, found)}
      <button type="button" aria-pressed=${asText} onClick=${() => setText(!asText)}>JSON</button>
      ${found && can('archiveEntity') && !found.archived_at && html`<button class="danger" onClick=${archive}>${t('entity.archive')}</button>`}</${Title}>
    ${found && step && html`<${Next} kind=${kind} />`}
    ${!found && (has('about.' + kind) ? html`<p class="lead">${t('about.' + kind)}</p>` : html`<p class="lead" lang=${about(first(schema.description)).in}>${about(first(schema.description)).text}</p>`)}
    ${error && html`<${Failure} error=${error} />`}
    <form onSubmit=${save} class="editor" onKeyDown=${(e) => e.key === 'Enter' && e.ctrlKey && e.currentTarget.requestSubmit()}>
      <div class="panel">
      ${asText ? html`<${AsJSON} value=${value} change=${(v) => setValue(v || {})} rows=${24} />` : html`<${Fields} doc=${doc} schema=${schema} value=${value} change=${setValue} errors=${errors} without=${['id']} form=${kind} />`}
      ${!found && html`<details class="more"><summary>${t('entity.ownid')}</summary><div class="field"><label for="own-id">Id</label><input id="own-id" name="id" value=${name} onInput=${(e) => setName(e.target.value)} pattern="[A-Za-z0-9._\\-]+" /><span class="help">${t('entity.id')}</span></div></details>`}
      </div>
      ${may && html`<div class="actions save"><button class="primary" disabled=${!changed.length && Boolean(found)}>${t('save')}</button><span class="small">${t('form.changes', { n: changed.length })}</span>${checked.length > 0 && html`<span class="wrong" role="status">${t('form.faults', { n: checked.length })}</span>`}</div>`}
    </form>
    ${found && kind === 'coupons/pool' && can('getCouponUsage') && html`<${Usage} pool=${found.id} />`}
    ${found && can('getConfiguration') && html`<${Uses} kind=${kind} name=${found.id} />`}
    ${found && can('listAudit') && html`<${History} target=${`${kind}/${found.id}`} />`}`
}

// Next links to the next step for a user who follows the steps of Today.
const following = { 'rewards/reward': ['campaign', '/entity/automation/campaign?step=2'], 'automation/campaign': ['try', '/tester?action=checkout'] }
function Next({ kind }) {
  const [name, to] = following[kind] || []
  return name && html`<p class="notice good" role="status">${t('saved')}. ${t('steps.' + name)}: <a class="button primary" href=${'#' + to}>${t(`steps.${name}.do`)}</a></p>`
}

// tried links to the screen where an entity can be tried.
function tried(kind, found) {
  if (kind === 'automation/campaign') return html`<a class="button" href=${'#/campaigns/' + id(found.id)}>${t('campaign.results')}</a>${can('previewEvent') && html`<a class="button" href=${'#/tester?action=' + (found.trigger === 'checkout_item' ? 'checkout' : id(found.trigger))}>${t('tester.preview')}</a>`}`
  if (kind === 'rewards/reward' && can('claimRewardForMany')) return html`<a class="button" href=${'#/rewards?tab=bulk&reward=' + id(found.id)}>${t('bulk.title')}</a>`
  return kind === 'core/customer-list' && html`<a class="button" href=${'#/customers?list=' + id(found.id)}>${t('nav.customers')}</a>`
}

function History({ target }) {
  const all = useLoad(() => get('/admin/audit', { target, limit: 20 }), [target])
  return html`<h2>${t('entity.history')}</h2><${Loaded} of=${all}>${({ data }) => html`<ul class="tree">${data.map((e) => html`<li><details><summary><${When} at=${e.at} /> · <${WhoDid} of=${e} /> · ${did(e.action)}</summary><${Diff} before=${e.before} after=${e.after} /></details></li>`)}</ul>${!data.length && html`<p>–</p>`}`}</${Loaded}>`
}
