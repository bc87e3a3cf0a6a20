// Test cases: previews saved as a file, and a file run again to see whether the programme still gives the same answers.
import { html, useState } from '../ui.js'
import { t, number } from '../words.js'
import { ask } from '../api.js'
import { saveAs } from './save.js'

// outcome is what a case compares: the recorded events with their points, and the rules that took part. Ids and moments
// differ each time.
const outcome = (answer) => ({
  change: (answer.events || []).reduce((sum, e) => sum + (e.change || 0), 0),
  events: (answer.events || []).map((e) => ({ action: e.action, change: e.change || 0 })),
  rules: (answer.rules || []).filter((r) => r.verdict !== 'skipped').map((r) => ({ rule: r.rule, verdict: r.verdict, points: r.points })),
  refused: answer.error?.code,
})

export function saveCase(event, answer) {
  saveAs(`case-${event.action}-${event.customer}.json`.replace(/[^\w.-]/g, '_'), JSON.stringify({ event, outcome: outcome(answer) }, null, 2) + '\n', 'application/json')
}

async function run(file) {
  try {
    const { event, outcome: wanted } = JSON.parse(await file.text())
    const now = outcome(await ask('/events/preview', event))
    return { name: file.name, same: JSON.stringify(now) === JSON.stringify(wanted), wanted: wanted.change, now: now.change }
  } catch (error) {
    return { name: file.name, fault: error.message }
  }
}

export function Cases() {
  const [done, set] = useState([])
  const all = async (files) => {
    const found = []
    for (const file of files) {
      found.push(await run(file))
      set([...found])
    }
  }
  return html`<details class="more"><summary>${t('case.title')}</summary><p class="small">${t('case.text')}</p>
    <label>${t('case.run')}<input type="file" multiple accept=".json,application/json" onChange=${(e) => all(e.target.files)} /></label>
    <div class="rules" role="status">${done.map((d) => html`<div class=${'rule ' + (d.same ? 'applied' : 'refused')}><header><code>${d.name}</code><strong>${d.fault ? '' : d.same ? t('case.same') : t('case.differs')}</strong></header>${d.fault || `${number(d.wanted)} → ${number(d.now)}`}</div>`)}</div></details>`
}
