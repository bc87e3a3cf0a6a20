// Points with their sign, states as badges.
import { html } from '../ui.js'
import { number } from '../words.js'

export const Points = ({ n }) => html`<span class=${n > 0 ? 'gain' : n < 0 ? 'loss' : ''}>${n > 0 ? '+' : ''}${number(n)}</span>`

const good = ['active', 'accepted', 'claimed', 'applied', 'held', 'done', 'true']
const bad = ['suspended', 'rejected', 'refused', 'broken', 'failed', 'refunded', 'inactive']
export const Badge = ({ state }) => html`<span class=${'badge ' + (good.includes(String(state)) ? 'good' : bad.includes(String(state)) ? 'bad' : '')}>${String(state)}</span>`

export const Card = ({ label, value, note }) => html`<div class="card"><span>${label}</span><b>${value}</b>${note && html`<span class="small">${note}</span>`}</div>`
