// The changes before they are sent: the properties that differ, before and after.
import { html } from '../ui.js'
import { t } from '../words.js'

export function differences(before = {}, after = {}) {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  return names.filter((n) => JSON.stringify(before[n]) !== JSON.stringify(after[n])).map((name) => ({ name, before: before[name], after: after[name] }))
}

const shown = (v) => (v === undefined ? '–' : typeof v === 'string' ? v : JSON.stringify(v, null, 1))

export function Diff({ before, after }) {
  const all = differences(before, after)
  if (!all.length) return html`<p>${t('diff.none')}</p>`
  return html`<div class="scroll"><table><thead><tr><th></th><th>${t('diff.before')}</th><th>${t('diff.after')}</th></tr></thead>
    <tbody>${all.map((d) => html`<tr><th scope="row">${d.name}</th><td><pre>${shown(d.before)}</pre></td><td><pre>${shown(d.after)}</pre></td></tr>`)}</tbody></table></div>`
}
