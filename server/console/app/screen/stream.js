// Events as they happen. The stream stops while the page is hidden.
import { html, useEffect, useReducer, useRef, useState } from '../ui.js'
import { t, clock } from '../words.js'
import { can, id } from '../api.js'
import { filter } from '../router.js'
import { Title, Empty } from '../part/state.js'
import { Badge, Points } from '../part/figures.js'
import { WhoDid } from '../part/trail.js'

const most = 300 // rows that are kept

export default function Stream({ place }) {
  const rows = useRef([])
  const rate = useRef([])
  const [, draw] = useReducer((n) => n + 1, 0)
  const [paused, pause] = useState(false)
  const { action = '', customer = '', key_id = '' } = place.query
  const of = [action, customer, key_id].join(' ')
  const [known, know] = useState({ of, state: 'waiting' })
  const set = (state) => know({ of, state })
  const state = known.of === of ? known.state : 'waiting' // the state of another filter's stream does not count
  const senders = can('listAudit') // senders are shown to users who may read the audit trail
  const denied = key_id && !senders // showing the whole stream instead would not be what the link asks for
  useEffect(() => ((rows.current = []), draw()), [action, customer, key_id]) // the rows were those of another filter
  useEffect(() => {
    if (paused || denied) return set('paused')
    let source
    let after = 'now'
    let late = 0
    const open = () => {
      if (document.hidden) return
      const q = new URLSearchParams({ after, include: 'postings' })
      if (action) q.set('types', 'event.' + action)
      if (key_id) q.set('key_id', key_id)
      source = new EventSource('/console/api/events/feed?' + q)
      source.onopen = () => set('open')
      source.onerror = () => set('waiting')
      source.onmessage = (m) => {
        const e = JSON.parse(m.data)
        after = e.cursor || after
        rate.current.push(Date.now())
        if (customer && e.customer?.id !== customer) return
        rows.current = [e, ...rows.current].slice(0, most)
        late ||= setTimeout(() => ((late = 0), draw()), 200)
      }
    }
    const look = () => (document.hidden ? (source?.close(), set('paused')) : open())
    open()
    document.addEventListener('visibilitychange', look)
    const tick = setInterval(() => {
      rate.current = rate.current.filter((ms) => ms > Date.now() - 300000)
      draw()
    }, 5000)
    return () => {
      source?.close()
      clearInterval(tick)
      clearTimeout(late)
      document.removeEventListener('visibilitychange', look)
    }
  }, [paused, action, customer, key_id])
  const buckets = Array.from({ length: 30 }, (_, i) => rate.current.filter((ms) => Math.floor((Date.now() - ms) / 10000) === 29 - i).length)
  const top = Math.max(1, ...buckets)
  return html`<${Title} text=${t('nav.stream')}><${Badge} state=${t('stream.' + state)} /><button onClick=${() => pause(!paused)}>${paused ? t('stream.go') : t('stream.pause')}</button></${Title}>
    <form class="filters" onSubmit=${(e) => (e.preventDefault(), filter(Object.fromEntries(new FormData(e.target))))}>
      <label>${t('event.action')}<input name="action" value=${action} placeholder="checkout" /></label>
      <label>${t('customer.id')}<input name="customer" value=${customer} /></label>
      ${senders && html`<label>${t('stream.sender')}<input name="key_id" value=${key_id} placeholder="LK…" /></label>`}<button>${t('search')}</button></form>
    <figure class="panel"><figcaption>${t('stream.rate')}: ${t('stream.count', { n: rate.current.length })}</figcaption>
      <div class="bars" aria-hidden="true">${buckets.map((n) => html`<span style=${{ height: (100 * n) / top + '%' }}></span>`)}</div></figure>
    ${denied && html`<div class="notice" role="alert"><p>${t('stream.denied')}</p><button onClick=${() => filter({ key_id: '' })}>${t('list.widen')}</button></div>`}
    ${!rows.current.length && !denied && html`<${Empty} text=${t('stream.none')}>${can('previewEvent') && html`<a class="button" href="#/tester">${t('steps.try.do')}</a>`}</${Empty}>`}
    <div class="rules">${rows.current.map((e) => html`<details class="rule" key=${e.sequence}><summary>${clock(e.recorded_at)} <strong>${e.label || e.action || e.type}</strong> ${e.customer && html`<bdi>${e.customer.id}</bdi>`} ${e.change ? html`<${Points} n=${e.change} />` : ''}</summary>
      ${senders && html`<p>${t('stream.sender')}: ${e.actor_kind ? html`<${WhoDid} of=${e} />` : t('stream.nobody')}</p>`}${e.customer && html`<p><a href=${'#/customer/' + id(e.customer.id)}>${t('customer')} ${e.customer.id}</a></p>`}<pre>${JSON.stringify(e, null, 2)}</pre></details>`)}</div>`
}
