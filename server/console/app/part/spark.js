// A line without axes beside a figure: its direction at a glance. The figures are in a table elsewhere.
import { html } from '../ui.js'

const few = 5 // too few values to draw

export function Spark({ values }) {
  const most = Math.max(...values)
  const least = Math.min(0, ...values)
  if (values.length < few || most === least) return null
  const at = (v, i) => `${((100 * i) / (values.length - 1)).toFixed(1)},${(23 - (22 * (v - least)) / (most - least)).toFixed(1)}`
  return html`<svg class="spark" viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true"><polyline points=${values.map(at).join(' ')} vector-effect="non-scaling-stroke" /></svg>`
}
