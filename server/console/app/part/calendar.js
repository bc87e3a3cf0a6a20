// Campaigns, offers, rewards and the like as bars over the months around today.
import { html } from '../ui.js'
import { t, has, title, day } from '../words.js'
import { get, id } from '../api.js'
import { useLoad } from '../load.js'
import { Loaded, Empty } from './state.js'
import { kindsOn } from './modules.js'

const kinds = ['automation/campaign', 'offers/offer', 'rewards/reward', 'challenges/challenge', 'contests/contest']
const dayMS = 86400000
const back = 30
const ahead = 150

export function Calendar() {
  const all = useLoad(async () => (await Promise.all((await kindsOn(kinds)).map((kind) => get('/entities/' + kind, { limit: 100 }).then((a) => a.data.map((e) => ({ ...e, kind })))))).flat())
  return html`<${Loaded} of=${all}>${(rows) => html`<${Bars} rows=${rows} />`}</${Loaded}>`
}

function Bars({ rows }) {
  const from = Date.now() - back * dayMS
  const to = Date.now() + ahead * dayMS
  const at = (ms) => Math.max(0, Math.min(100, (100 * (ms - from)) / (to - from)))
  const dated = rows.map((r) => ({ ...r, a: r.starts_at ? Date.parse(r.starts_at) : -Infinity, z: r.ends_at ? Date.parse(r.ends_at) : Infinity })).filter((r) => r.z > from && r.a < to)
  if (!dated.length) return html`<${Empty} text=${t('calendar.none')} />`
  return html`<section class="panel"><p class="small">${day(new Date(from).toISOString())} – ${day(new Date(to).toISOString())} · ${t('calendar.today')}</p>
    ${kinds.filter((k) => dated.some((r) => r.kind === k)).map((k) => html`<h2>${has('type.' + k) ? t('type.' + k) : k}</h2><div class="cal">${dated.filter((r) => r.kind === k).sort((x, y) => x.a - y.a).map((r) => {
      const name = title(r.title || r.name) || r.id
      const left = at(r.a)
      const told = `${r.starts_at ? day(r.starts_at) : '…'} – ${r.ends_at ? day(r.ends_at) : '…'}`
      return html`<span><bdi>${name}</bdi> <span class="small">${r.starts_at || r.ends_at ? told : t('calendar.always')}</span></span><div class="line"><a class=${['draft', 'paused'].includes(r.status) || !(r.starts_at || r.ends_at) ? 'draft' : ''} href=${`#/entity/${k}/${id(r.id)}`} aria-label=${`${name}: ${told}`} style=${{ left: left + '%', width: at(r.z) - left + '%' }}></a><u style=${{ left: at(Date.now()) + '%' }}></u></div>`
    })}</div>`)}</section>`
}
