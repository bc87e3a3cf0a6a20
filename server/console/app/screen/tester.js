// Try an event: a form made from the action's schema, what each rule says to it, and then, if wanted, for real.
import { html, useEffect, useState } from '../ui.js'
import { t, has } from '../words.js'
import { ask, post, can, documentOf } from '../api.js'
import { filter } from '../router.js'
import { useLoad } from '../load.js'
import { Loaded, Title, Failure } from '../part/state.js'
import { sure } from '../part/dialog.js'
import { tell } from '../part/toast.js'
import { Fields, AsJSON } from '../form/form.js'
import { bodyOf, variants, example, plain, clean } from '../form/schema.js'
import { Explanation } from '../part/explain.js'

export default function Tester({ place }) {
  const doc = useLoad(() => documentOf('events'))
  return html`<${Title} text=${t('nav.tester')} /><${Loaded} of=${doc}>${(d) => html`<${Try} doc=${d} place=${place} />`}</${Loaded}>`
}

function Try({ doc, place }) {
  const { schema, examples } = bodyOf(doc, '/events')
  const actions = variants(doc, schema)
  const action = place.query.action || 'checkout'
  const [customer, setCustomer] = useState(place.query.customer || 'member-0001')
  const [data, setData] = useState({})
  const [asText, setText] = useState(false)
  const [result, set] = useState({})
  const [key, renew] = useState(() => crypto.randomUUID())
  const sample = () => setData(example(doc, examples, action)?.data || {})
  useEffect(sample, [action])
  const body = () => ({ customer, action, data: clean(data) || {} })
  const preview = async (e) => {
    e?.preventDefault()
    try {
      set({ answer: await ask('/events/preview', body()) })
    } catch (error) {
      set({ error })
    }
  }
  const submit = async () => {
    if (!(await sure(t('tester.submit'), `${customer} · ${action}`, true))) return
    try {
      set({ answer: await post('/events', body(), key), real: true })
      renew(crypto.randomUUID())
      tell(t('done'))
    } catch (error) {
      set({ error })
    }
  }
  const keys = (e) => e.key === 'Enter' && e.ctrlKey && preview(e)
  const own = actions[action] && plain(doc, plain(doc, actions[action]).properties?.data)
  const errors = (result.error?.details || []).map((d) => ({ ...d, field: d.field.replace(/^data\./, '') }))
  return html`<div class="split"><form onSubmit=${preview} onKeyDown=${keys}>
      <label>${t('customer.id')}<input name="customer" value=${customer} onInput=${(e) => setCustomer(e.target.value)} required /></label>
      <label>${t('event.action')}<select name="action" value=${action} onChange=${(e) => filter({ action: e.target.value })}>${Object.keys(actions).sort().map((a) => html`<option value=${a}>${has('action.' + a) ? t('action.' + a) + ' – ' : ''}${a}</option>`)}</select></label>
      <div class="actions"><button type="button" onClick=${sample}>${t('tester.sample')}</button><button type="button" aria-pressed=${asText} onClick=${() => setText(!asText)}>JSON</button></div>
      ${asText || !own?.properties ? html`<${AsJSON} value=${data} change=${(v) => setData(v || {})} rows=${16} />` : html`<${Fields} doc=${doc} schema=${own} value=${data} change=${setData} errors=${errors} />`}
      <div class="actions"><button class="primary">${t('tester.preview')} (Ctrl+Enter)</button>${can('submitEvent') && html`<button type="button" class="danger" onClick=${submit}>${t('tester.submit')}</button>`}</div>
    </form>
    <div>${result.error && html`<${Failure} error=${result.error} />`}${result.real && html`<p class="bar soft">${t('tester.real')}</p>`}
      ${result.answer && html`<${Explanation} answer=${result.answer} />`}${!result.answer && !result.error && html`<p class="small">${t('tester.text')}</p>`}</div></div>`
}
