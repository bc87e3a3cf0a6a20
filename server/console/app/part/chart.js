// Lines and bars over time. A table with the same figures is under each.
import { html, useEffect, useRef } from '../ui.js'
import { t, number, tick } from '../words.js'

// Chart draws rows {at (seconds), values}; series are {label}; digits is the number of decimals. kind is lines, bars,
// or stack: stacked bars, the first series on top. Days and months are placed at their beginning in UTC, whatever the
// browser's zone.
export function Chart({ rows, series, title, height = 220, kind = 'lines', digits = 0, first = (r) => r.label }) {
  const box = useRef()
  useEffect(() => {
    let plot
    let gone = false
    const ink = getComputedStyle(box.current).color
    const faint = 'rgba(128, 128, 128, 0.25)'
    import('../vendor/uPlot.js').then(({ default: UPlot }) => {
      if (gone || !box.current) return
      const bars = kind === 'stack' || kind === 'bars'
      const stack = kind === 'stack' // a series is drawn as the sum of itself and all below it, and the lower ones are drawn over it
      const data = [rows.map((r) => r.at), ...series.map((_, i) => rows.map((r) => (stack ? r.values.slice(i).reduce((sum, v) => sum + v, 0) : r.values[i]) || (bars ? null : r.values[i])))] // no bar for nothing
      const apart = rows.length > 1 ? rows.at(-1).at - rows.at(-2).at : 86400 // the first row may be a part of a month
      const axis = { stroke: ink, grid: { stroke: faint, width: 1 }, ticks: { stroke: faint } }
      plot = new UPlot(
        {
          width: box.current.clientWidth || 600,
          height,
          padding: [8, 34, 0, 0], // room for the last name under the axis
          legend: { show: series.length > 1 },
          cursor: { y: false },
          tzDate: (/** @type {number} */ at) => UPlot.tzDate(new Date(at * 1000), 'UTC'),
          scales: {
            ...(bars ? { x: { range: (_, from, to) => [from - apart / 2, to + apart / 2] } } : {}), // room for the whole first and last bar
            y: { range: (_, low, high) => around(low ?? 0, high ?? 0) },
          },
          axes: [{ ...axis, splits: (u) => named(rows, u.width), values: (_, all) => all.map((at) => tick(at, apart)) }, { ...axis, size: 64, values: (_, all) => all.map((v) => (digits || Number.isInteger(v) ? number(v, digits) : '')) }], // counts get no fractions
          series: [{ label: t('time'), value: (_, at) => (at == null ? '' : tick(at, apart)) }, ...series.map((s, i) => ({
            label: s.label, value: (_, v, __, at) => (at == null ? '' : number(rows[at].values[i], digits)), stroke: palette[i % palette.length], width: s.faint ? 1.5 : 2, dash: s.faint ? [5, 4] : undefined,
            fill: bars ? palette[i % palette.length] + (stack ? '' : '99') : undefined, paths: bars ? UPlot.paths.bars({ size: [0.7, 60] }) : undefined, points: { show: false },
          }))],
        },
        data,
        box.current,
      )
    })
    const fit = () => plot?.setSize({ width: box.current.clientWidth, height })
    window.addEventListener('resize', fit)
    return () => {
      gone = true
      window.removeEventListener('resize', fit)
      plot?.destroy()
    }
  }, [rows])
  return html`<figure>
    <figcaption>${title}</figcaption>
    <div ref=${box} class="chart" aria-hidden="true"></div>
    <details class="data"><summary>${t('chart.table')}</summary>
      <div class="scroll" tabindex="0" role="group" aria-label=${t('chart.table')}><table><thead><tr><td></td>${series.map((s) => html`<th scope="col" class="right">${s.label}</th>`)}</tr></thead>
      <tbody>${rows.map((r) => html`<tr><th scope="row">${first(r)}</th>${r.values.map((v) => html`<td class="right">${number(v, digits)}</td>`)}</tr>`)}</tbody></table></div>
    </details>
  </figure>`
}

// named are the moments with a name under the axis, as many as have room.
const named = (rows, width) => {
  const every = Math.ceil(rows.length / Math.max(1, Math.floor((width - 64) / 84)))
  return rows.filter((_, i) => i % every === 0).map((r) => r.at)
}

// around is the range of an axis: it includes zero, and the highest value does not touch the edge.
function around(low, high) {
  const [from, to] = [Math.min(0, low), Math.max(0, high)]
  const edge = (to - from) * 0.08
  return to === from ? [0, 1] : [from && from - edge, to && to + edge]
}

const palette = ['#2f7d6b', '#b4582d', '#4c6fb5', '#8a5aa8', '#a8862a', '#3a8fb0', '#b34d6d', '#6b7f3a']
