// A time in the programme's zone; the exact instant and the zone are its tooltip.
import { html } from '../ui.js'
import { time, zoneName } from '../words.js'

// When writes an instant; as formats it, such as the day alone.
export const When = ({ at, as = time }) => (at ? html`<time datetime=${at} title=${`${at} · ${zoneName()}`}>${as(at)}</time>` : '–')

// Since is a sentence with an instant in place of {at}; the exact one is its tooltip.
export const Since = ({ at, say, as = time }) => html`<time datetime=${at} title=${`${at} · ${zoneName()}`}>${say(as(at))}</time>`
