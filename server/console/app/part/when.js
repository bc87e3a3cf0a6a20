// A time in the programme's zone; the exact instant and the zone stand behind it.
import { html } from '../ui.js'
import { time, zoneName } from '../words.js'

// When writes an instant; as is how, such as the day alone.
export const When = ({ at, as = time }) => (at ? html`<time datetime=${at} title=${`${at} · ${zoneName()}`}>${as(at)}</time>` : '–')

// Since is a sentence about an instant, which it says as {at}; the exact one stands behind it.
export const Since = ({ at, say, as = time }) => html`<time datetime=${at} title=${`${at} · ${zoneName()}`}>${say(as(at))}</time>`
