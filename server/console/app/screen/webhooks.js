// Webhooks: their health, what waits, each delivery, and the actions on them.
import { html, useState } from '../ui.js'
import { t, has, number, opensAt, closesAt } from '../words.js'
import { get, post, can, id } from '../api.js'
import { filter, go } from '../router.js'
import { useLoad } from '../load.js'
import { Loaded, Title, Failure, Empty, Id } from '../part/state.js'
import { Table } from '../part/table.js'
import { Badge, Card } from '../part/figures.js'
import { Attempts } from '../part/attempts.js'
import { sure, openDialog } from '../part/dialog.js'
import { tell } from '../part/toast.js'
import { heed } from '../part/warned.js'
import { When, Since } from '../part/when.js'

const once = (data) => data.secret && openDialog({ title: t('keys.secret'), content: html`<pre>${data.secret}</pre><p>${t('keys.once')}</p>` })

export default function Webhooks({ place }) {
  return place.parts[1] ? html`<${One} name=${place.parts[1]} place=${place} />` : html`<${All} place=${place} />`
}

function All({ place }) {
  const { cursor, offset } = place.query
  const all = useLoad(() => get('/admin/webhooks', { limit: 50, cursor, offset }), [cursor, offset])
  const [wrong, fail] = useState(null)
  const make = async (e) => {
    e.preventDefault()
    const f = e.target.elements
    try {
      const made = await post('/admin/webhooks', { label: f.label.value, url: f.url.value, types: f.types.value.split(/[\s,]+/).filter(Boolean) })
      fail(null)
      await once(made.data)
      await heed(made)
      all.again()
    } catch (error) {
      fail(error)
    }
  }
  const columns = [
    { key: 'label', label: t('name'), cell: (w) => html`<a href=${'#/webhooks/' + id(w.webhook_id)}>${w.label || w.webhook_id}</a>` },
    { key: 'url', label: t('webhook.url'), cell: (w) => html`<code>${w.url}</code>` },
    { key: 'state', label: t('status'), cell: (w) => html`<${Badge} state=${w.reason || w.state} />` },
    { key: 'waiting', label: t('webhook.waiting'), right: true, cell: (w) => number(w.backlog.waiting), text: (w) => w.backlog.waiting },
    { key: 'dead', label: t('webhook.dead'), right: true, cell: (w) => number(w.backlog.dead), text: (w) => w.backlog.dead },
    { key: 'behind', label: t('webhook.behind'), right: true, cell: (w) => number(w.backlog.behind), text: (w) => w.backlog.behind },
  ]
  return html`<${Title} text=${t('nav.webhooks')} />${wrong && html`<${Failure} error=${wrong} />`}
    ${can('createWebhook') && html`<form class="filters" onSubmit=${make}><label>${t('name')}<input name="label" /></label><label>${t('webhook.url')}<input name="url" type="url" required /></label><${Types} /><button class="primary">${t('webhook.new')}</button></form>`}
    <${Loaded} of=${all}>${(d) => html`<${Table} answer=${d} columns=${columns} to=${(w) => '/webhooks/' + id(w.webhook_id)} name="webhooks" empty=${html`<${Empty} text=${t('webhook.none')}><a href="/docs/webhooks" target="_blank" rel="noopener">${t('webhook.docs')}</a></${Empty}>`} />`}</${Loaded}>`
}

// Types is the field for the types of events; the list of all types is read when the field gets the focus.
function Types() {
  const [all, set] = useState(null)
  const read = () => all || get('/admin/webhook-types').then(({ data }) => set(data), () => {})
  return html`<label>${t('webhook.types')}<input name="types" placeholder="event.*" list="webhook-types" required onFocus=${read} /><datalist id="webhook-types">${(all || []).map((one) => html`<option value=${one.type}>${has('action.' + one.type.slice(6)) ? t('action.' + one.type.slice(6)) : ''}</option>`)}</datalist></label>`
}

function One({ name, place }) {
  const path = '/admin/webhooks/' + id(name)
  const { cursor, offset, state } = place.query
  const hook = useLoad(() => get(path), [name])
  const deliveries = useLoad(() => get(path + '/deliveries', { limit: 50, cursor, offset, state }), [name, cursor, state])
  const [wrong, fail] = useState(null)
  const [turn, next] = useState(0)
  const act = async (what, body = {}, ask) => {
    if (ask && !(await sure(ask, name, true))) return
    try {
      const answer = await post(path + what, body)
      fail(null)
      await once(answer.data)
      await heed(answer)
      tell(t('done'))
      hook.again()
      deliveries.again()
      next(turn + 1)
    } catch (error) {
      fail(error)
    }
  }
  const remove = async (w) => {
    if (!(await sure(t('webhook.remove'), t('webhook.remove.text', { name: w.label || w.url }), true))) return
    try {
      await post(path + '/remove', {})
      tell(t('done'))
      go('/webhooks')
    } catch (error) {
      fail(error)
    }
  }
  const replay = async (e) => {
    e.preventDefault()
    const f = e.target.elements
    const range = { from: opensAt(f.from.value), to: closesAt(f.to.value) }
    try {
      const { data } = await post(path + '/replay', { ...range, dry_run: true })
      if (await sure(t('webhook.replay'), t('webhook.count', { n: data.events }))) await act('/replay', range)
    } catch (error) {
      fail(error)
    }
  }
  const columns = [
    { key: 'created_at', label: t('time'), cell: (d) => html`<${When} at=${d.created_at} />` },
    { key: 'type', label: t('webhook.type'), cell: (d) => html`<code>${d.type}</code>` },
    { key: 'customer', label: t('customer'), cell: (d) => (d.customer ? html`<a href=${'#/customer/' + id(d.customer)}>${d.customer}</a>` : '–') },
    { key: 'state', label: t('status'), cell: (d) => html`<${Badge} state=${d.state} />${d.reason && html`<div class="small">${t('skipped.' + d.reason)}</div>`}` },
    { key: 'attempts', label: t('webhook.attempts'), right: true },
    { key: 'last_status', label: t('webhook.answer'), cell: (d) => d.last_status || (d.last_fault ? t('fault.' + d.last_fault) : '–') },
    { key: 'do', label: '', cell: (d) => html`<div class="actions"><button onClick=${() => show(path, d).catch(fail)}>${t('show')}</button>${d.state === 'dead' && can('retryDelivery') && html`<button onClick=${() => act(`/deliveries/${id(d.delivery)}/retry`)}>${t('again')}</button>`}</div>`, text: () => '' },
  ]
  return html`<p class="crumb"><a href="#/webhooks">${t('nav.webhooks')}</a> ›</p><${Loaded} of=${hook} title=${t('nav.webhooks')}>${({ data: w }) => html`<${Title} text=${w.label || w.url}><${Badge} state=${w.state} />
      ${can('testWebhook') && html`<button onClick=${() => act('/test')}>${t('webhook.test')}</button><button onClick=${() => act('/rotate', {}, t('keys.rotate'))}>${t('keys.rotate')}</button>
        ${w.backlog.dead > 0 && can('retryDeliveries') && html`<button onClick=${() => act('/deliveries/-/retry', {}, t('webhook.retry'))}>${t('webhook.retry')}</button>`}
        ${w.state === 'active' ? html`<button onClick=${() => act('/pause')}>${t('webhook.pause')}</button>` : html`<button onClick=${() => act('/resume')}>${t('webhook.resume')}</button>`}`}
      ${can('removeWebhook') && html`<button class="danger" onClick=${() => remove(w)}>${t('webhook.remove')}</button>`}</${Title}>
    ${wrong && html`<${Failure} error=${wrong} />`}
    <p><code>${w.url}</code> ${w.types.map((x) => html`<span class="badge">${x}</span> `)}</p>
    <div class="cards">${['waiting', 'dead', 'behind'].map((f) => html`<${Card} label=${t('webhook.' + f)} value=${number(w.backlog[f])} note=${f === 'waiting' && w.backlog.oldest_at && html`<${Since} at=${w.backlog.oldest_at} say=${(at) => t('webhook.oldest', { at })} />`} />`)}<${Card} label=${t('webhook.success')} value=${html`<${When} at=${w.health.last_success_at} />`} note=${w.health.failing_since && html`<${Since} at=${w.health.failing_since} say=${(at) => t('webhook.failing', { at })} />`} /></div>`}</${Loaded}>
    ${can('getWebhookAttempts') && html`<${Attempts} path=${path} turn=${turn} />`}
    ${can('replayWebhook') && html`<h2>${t('webhook.again')}</h2><p class="small">${t('webhook.again.text')}</p><form class="filters" onSubmit=${replay}><label>${t('from')}<input type="date" name="from" required /></label><label>${t('to')}<input type="date" name="to" required /></label><button>${t('webhook.replay')}</button></form>`}
    <h2>${t('webhook.deliveries')}</h2><div class="tabs">${['', 'waiting', 'sent', 'dead', 'skipped'].map((s) => html`<button aria-pressed=${(state || '') === s} onClick=${() => filter({ state: s })}>${s ? t('state.' + s) : t('all')}</button>`)}</div>
    <${Loaded} of=${deliveries}>${(d) => html`<${Table} answer=${d} columns=${columns} name="deliveries" empty=${html`<${Empty} text=${state ? t('webhook.quiet.state', { state: t('state.' + state) }) : t('webhook.quiet')}>${!state && can('testWebhook') && html`<button onClick=${() => act('/test')}>${t('webhook.test')}</button>`}</${Empty}>`} />`}</${Loaded}>`
}

// show shows one delivery: its content, and the result of each attempt.
async function show(path, d) {
  const { data } = await get(`${path}/deliveries/${id(d.delivery)}`)
  const columns = [
    { key: 'attempt', label: t('webhook.attempt'), right: true },
    { key: 'at', label: t('time'), cell: (a) => html`<${When} at=${a.at} />` },
    { key: 'status', label: t('webhook.answer'), cell: (a) => html`${a.status || (a.fault ? t('fault.' + a.fault) : '–')}${a.answer && html`<div class="small about">${a.answer}</div>`}`, text: (a) => a.status || a.fault },
    { key: 'headers', label: t('webhook.headers'), cell: (a) => html`<pre>${Object.entries(a.headers || {}).map(([name, value]) => `${name}: ${value}`).join('\n')}</pre>`, text: () => '' },
    { key: 'duration', label: t('jobs.took'), right: true, cell: (a) => number(a.duration, 3) + ' s' },
  ]
  const content = html`<p><${Badge} state=${data.state} /> ${data.reason && t('skipped.' + data.reason)} ${data.replay && html`<${Badge} state=${t('webhook.replay')} />`} ${data.customer && html`<code>${data.customer}</code>`} <span class="small">${data.next_attempt_at && html`${t('jobs.next')}: <${When} at=${data.next_attempt_at} />`}</span></p>
    <h3>${t('webhook.attempts')}</h3><${Table} answer=${{ data: data.log }} columns=${columns} name="attempts" links=${false} empty=${html`<p class="small">${t('webhook.untried')}</p>`} />
    <p class="small">${t('webhook.headers.text')}</p>
    <h3>${t('webhook.message')}</h3><p class="small">webhook-id: <${Id} value=${data.event_id} /></p>${data.message ? html`<pre>${JSON.stringify(data.message, null, 2)}</pre>` : html`<p class="small">${t('webhook.gone')}</p>`}`
  await openDialog({ title: d.type, content })
}
