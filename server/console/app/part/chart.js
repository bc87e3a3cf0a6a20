// Lines and bars over time. The table with the same figures stands under each.
import { html, useEffect, useRef } from '../ui.js'
import { t, number, tick } from '../words.js'

// Chart draws rows {at (seconds), values}; series are {label}; figures have so many digits. Days
// and months stand at their beginning in UTC, whatever the browser's zone is.
export function Chart({ rows, series, title, height = 220, kind = 'lines', digits = 0, first = (r) => r.label }) {
  const box = useRef()
  useEffect(() => {
    let plot
    let gone = false
    const ink = getComputedStyle(box.current).color
    const faint = 'rgba(128, 128, 128, 0.25)'
    import('../vendor/uPlot.js').then(({ default: UPlot }) => {
      if (gone || !box.current) return
      const data = [rows.map((r) => r.at), ...series.map((_, i) => rows.map((r) => r.values[i]))]
      const apart = rows.length > 1 ? rows[1].at - rows[0].at : 86400
      const bars = kind === 'bars'
      const axis = { stroke: ink, grid: { stroke: faint, width: 1 }, ticks: { stroke: faint } }
      plot = new UPlot(
        {
          width: box.current.clientWidth || 600,
          height,
          legend: { show: series.length > 1 },
          cursor: { y: false },
          tzDate: (/** @type {number} */ at) => UPlot.tzDate(new Date(at * 1000), 'UTC'),
          scales: bars ? { x: { range: (_, from, to) => [from - apart / 2, to + apart / 2] } } : {}, // the first bar and the last are whole
          axes: [{ ...axis, space: 76, values: (_, all, __, ___, step) => all.map((at) => tick(at, step)) }, { ...axis, size: 64, values: (_, all) => all.map((v) => number(v, digits)) }],
          series: [{ label: t('time'), value: (_, at) => (at == null ? '–' : tick(at, apart)) }, ...series.map((s, i) => ({
            label: s.label, value: (_, v) => number(v, digits), stroke: palette[i % palette.length], width: s.faint ? 1.5 : 2, dash: s.faint ? [5, 4] : undefined,
            fill: bars ? palette[i % palette.length] + '99' : undefined, paths: bars ? UPlot.paths.bars({ size: [0.7, 60] }) : undefined, points: { show: false },
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

const palette = ['#2f7d6b', '#b4582d', '#4c6fb5', '#8a5aa8', '#a8862a', '#3a8fb0', '#b34d6d', '#6b7f3a']
