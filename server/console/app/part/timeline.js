// The events of a customer, each with the events that followed from it.
import { html } from '../ui.js'
import { t, has, every, time } from '../words.js'
import { get, id } from '../api.js'
import { filter } from '../router.js'
import { useLoad } from '../load.js'
import { Loaded, Empty } from './state.js'
import { Points } from './figures.js'

export function Timeline({ who, place }) {
  const { action, cursor, offset } = place.query
  const all = useLoad(() => get(`/customers/${id(who)}/events`, { limit: 50, action, cursor, offset }), [who, action, cursor])
  return html`<form class="filters" onSubmit=${(e) => (e.preventDefault(), filter({ action: e.target.elements.action.value }))}>
      <label>${t('event.action')}<input name="action" value=${action || ''} list="actions" placeholder="checkout" autocomplete="off" /></label><datalist id="actions">${every('action.').map((a) => html`<option value=${a}>${t('action.' + a)}</option>`)}</datalist><button>${t('search')}</button></form>
    <${Loaded} of=${all}>${(page) => html`<div class="panel"><${Tree} events=${page.data} /></div>
      <div class="foot">${page.previous && html`<button onClick=${() => filter(at(page.previous))}>← ${t('list.previous')}</button>`}
      ${page.next && html`<button onClick=${() => filter(at(page.next))}>${t('list.next')} →</button>`}</div>`}</${Loaded}>`
}

const at = (link) => {
  const q = new URLSearchParams(link.split('?')[1])
  return { cursor: q.get('cursor'), offset: q.get('offset') }
}

// Tree puts events under the events that caused them; the newest first, the followers in their order.
export function Tree({ events }) {
  if (!events.length) return html`<${Empty} text=${t('event.none')} />`
  const under = {}
  const here = new Set(events.map((e) => e.id))
  for (const e of events) if (e.parent && here.has(e.parent)) (under[e.parent] ??= []).unshift(e)
  const roots = events.filter((e) => !e.parent || !here.has(e.parent))
  return html`<ul class="tree">${roots.map((e) => html`<${One} e=${e} under=${under} />`)}</ul>`
}

const worded = (action) => has('action.' + action) ? t('action.' + action) : (action[0].toUpperCase() + action.slice(1)).replaceAll('_', ' ')

// One is an event; a follower in the same minute does not repeat the time.
function One({ e, under, since }) {
  const at = e.timestamp && time(e.timestamp)
  const data = e.data && Object.keys(e.data).length > 0
  const line = html`<span class="event">${at && at !== since && html`<span class="at" title=${e.timestamp}>${at}</span>`}<strong title=${e.action}>${e.label || worded(e.action)}</strong>
    ${e.transaction_id && html`<code>${e.transaction_id}</code>`}${e.change ? html`<${Points} n=${e.change} />` : ''}</span>`
  return html`<li>${data ? html`<details class="told"><summary title=${t('event.data')}>${line}</summary><pre>${JSON.stringify(e.data, null, 2)}</pre></details>` : line}
    ${under[e.id] && html`<ul class="tree">${under[e.id].map((c) => html`<${One} e=${c} under=${under} since=${at} />`)}</ul>`}</li>`
}
