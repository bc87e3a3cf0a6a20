// Points with their sign, states as badges.
import { html } from '../ui.js'
import { t, has, number } from '../words.js'

export const Points = ({ n }) => html`<span class=${n > 0 ? 'gain' : n < 0 ? 'loss' : ''}>${n > 0 ? '+' : ''}${number(n)}</span>`

const good = ['active', 'accepted', 'claimed', 'applied', 'held', 'done', 'true', 'sent', 'on', 'fine']
const bad = ['suspended', 'rejected', 'refused', 'broken', 'failed', 'refunded', 'inactive', 'dead']
export const Badge = ({ state }) => html`<span class=${'badge ' + (good.includes(String(state)) ? 'good' : bad.includes(String(state)) ? 'bad' : '')}>${has('state.' + state) ? t('state.' + state) : String(state)}</span>`

// Card is one figure; to is the screen with more of it.
export const Card = ({ label, value, note, to, children }) => html`<div class="card"><span>${to ? html`<a href=${'#' + to}>${label}</a>` : label}</span><b class=${String(value).length > 9 ? 'long' : ''}>${value}</b>${note && html`<span class="small">${note}</span>`}${children}</div>`
