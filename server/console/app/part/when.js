// A time in the programme's zone; the exact instant and the zone stand behind it.
import { html } from '../ui.js'
import { time, zoneName } from '../words.js'

// When writes an instant; as is how, such as the day alone.
export const When = ({ at, as = time }) => (at ? html`<time datetime=${at} title=${`${at} · ${zoneName()}`}>${as(at)}</time>` : '–')
