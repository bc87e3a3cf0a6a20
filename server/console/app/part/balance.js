// A customer's balance as steps: each event that changed it is a step with a mark under it. The newest events are
// drawn.
import { html } from '../ui.js'
import { t, number, day } from '../words.js'
import { get, id } from '../api.js'
import { useLoad } from '../load.js'
import { Loaded } from './state.js'
import { Points } from './figures.js'
import { When } from './when.js'

const wide = 1000
const high = 160
const read = 500 // events, the newest
const listed = 100 // rows of the table

// stepsOf goes back from the current balance, by the instants of the events, which may differ from the order of
// recording. The oldest step comes first.
function stepsOf(events, now) {
  let after = now
  return events.filter((e) => e.change).sort((a, b) => Date.parse(b.timestamp) - Date.parse(a.timestamp)).map((e) => {
    const step = { at: Date.parse(e.timestamp), e, after }
    after -= e.change
    return step
  }).reverse()
}

export function Balance({ who, customer, asOf }) {
  const all = useLoad(() => get(`/customers/${id(who)}/events`, { limit: read }), [who])
  return html`<${Loaded} of=${all}>${({ data }) => {
    const steps = stepsOf(data, customer.spendable)
    return steps.length > 1 && html`<${Steps} steps=${steps} asOf=${asOf} />`
  }}</${Loaded}>`
}

function Steps({ steps, asOf }) {
  const from = steps[0].at
  const until = Date.now()
  const before = steps[0].after - steps[0].e.change
  const most = Math.max(1, before, ...steps.map((s) => s.after))
  const least = Math.min(0, before, ...steps.map((s) => s.after))
  const x = (at) => ((wide * (at - from)) / (until - from || 1)).toFixed(1)
  const y = (n) => (high - (high * (n - least)) / (most - least)).toFixed(1)
  const line = steps.map((s) => `H${x(s.at)}V${y(s.after)}`).join('')
  const marks = (wanted) => steps.filter(wanted).map((s) => `M${x(s.at)} 0V10`).join('')
  const gained = (s) => s.e.change > 0
  return html`<figure class="panel balance"><figcaption>${t('balance.title')}</figcaption>
    <div class="ends small" aria-hidden="true"><span>${t('balance.most', { n: most })}</span><span>${t('balance.now', { n: steps.at(-1).after })}</span></div>
    <svg viewBox=${`0 0 ${wide} ${high}`} preserveAspectRatio="none" aria-hidden="true"><path class="under" d=${`M0 ${y(least)}V${y(before)}${line}H${wide}V${y(least)}Z`} /><path d=${`M0 ${y(before)}${line}H${wide}`} vector-effect="non-scaling-stroke" />${asOf && html`<path class="then" d=${`M${x(Date.parse(asOf))} 0V${high}`} vector-effect="non-scaling-stroke" />`}</svg>
    <svg class="marks" viewBox=${`0 0 ${wide} 10`} preserveAspectRatio="none" aria-hidden="true"><path d=${marks(gained)} vector-effect="non-scaling-stroke" /><path class="less" d=${marks((s) => !gained(s))} vector-effect="non-scaling-stroke" /></svg>
    <div class="ends small" aria-hidden="true"><span>${day(new Date(from).toISOString())}</span><span>${t('balance.marks')}</span><span>${day(new Date(until).toISOString())}</span></div>
    <details class="data"><summary>${t('chart.table')}</summary><div class="scroll" tabindex="0" role="group" aria-label=${t('chart.table')}><table>
      <thead><tr><th scope="col">${t('time')}</th><th scope="col">${t('event.action')}</th><th scope="col" class="right">${t('points')}</th><th scope="col" class="right">${t('points.spendable')}</th></tr></thead>
      <tbody>${steps.slice(-listed).reverse().map((s) => html`<tr><th scope="row"><${When} at=${s.e.timestamp} /></th><td>${s.e.label || s.e.action}</td><td class="right"><${Points} n=${s.e.change} /></td><td class="right">${number(s.after)}</td></tr>`)}</tbody></table></div></details></figure>`
}
