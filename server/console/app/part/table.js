// The one table: rows of a list by its links, the columns that were chosen, the page as CSV, rows by j and k.
import { html, useEffect, useRef } from '../ui.js'
import { t } from '../words.js'
import { filter, go, place } from '../router.js'
import { Empty } from './state.js'

const linkQuery = (link) => Object.fromEntries(new URLSearchParams(link.split('?')[1] || ''))

// Table shows answer.data. columns: {key, label, cell(row), text(row), right}. to(row) is where a row leads.
export function Table({ answer, columns, to, empty, name = 'rows', links = true }) {
  const body = useRef()
  const rows = answer.data
  useEffect(() => {
    const pressed = (e) => {
      if (!['j', 'k'].includes(e.key) || e.target.closest?.('input, textarea, select, dialog')) return
      const all = [...(body.current?.querySelectorAll('tr') || [])]
      const at = all.indexOf(document.activeElement)
      all[Math.max(0, Math.min(all.length - 1, at + (e.key === 'j' ? 1 : -1)))]?.focus()
    }
    document.addEventListener('keydown', pressed)
    return () => document.removeEventListener('keydown', pressed)
  }, [])
  if (!rows.length && !place().query.cursor) return empty || html`<${Empty} text=${t('list.none')} />`
  const turn = (link) => {
    const { cursor, offset } = linkQuery(link)
    filter({ cursor, offset })
  }
  return html`
    <div class="scroll" tabindex="0" role="group" aria-label=${t('list.rows')}>
      <table>
        <thead><tr>${columns.map((c) => (c.label ? html`<th scope="col" class=${c.right ? 'right' : ''}>${c.label}</th>` : html`<td></td>`))}</tr></thead>
        <tbody ref=${body}>
          ${rows.map((row) => html`<tr tabindex=${to ? 0 : undefined} class=${to ? 'link' : ''}
            onClick=${(e) => to && !e.target.closest('a, button, code') && go(to(row))} onKeyDown=${(e) => to && e.key === 'Enter' && e.target === e.currentTarget && go(to(row))}>
            ${columns.map((c) => html`<td class=${c.right ? 'right' : ''}>${c.cell ? c.cell(row) : plain(row[c.key])}</td>`)}
          </tr>`)}
        </tbody>
      </table>
    </div>
    <div class="foot">
      ${links && answer.previous && html`<button onClick=${() => turn(answer.previous)}>← ${t('list.previous')}</button>`}
      ${links && answer.next && html`<button onClick=${() => turn(answer.next)}>${t('list.next')} →</button>`}
      <button class="quiet" onClick=${() => save(name, columns, rows)}>CSV</button>
    </div>`
}

const plain = (v) => (v == null ? '–' : typeof v === 'object' ? JSON.stringify(v) : String(v))

// save gives the rows of this page as CSV. What a spreadsheet would take for a formula gets an apostrophe.
function save(name, columns, rows) {
  const cell = (v) => {
    let text = plain(v) === '–' ? '' : plain(v)
    if (/^[=+\-@\t\r']/.test(text) && typeof v !== 'number') text = "'" + text
    return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text
  }
  const lines = [columns.map((c) => cell(c.label)), ...rows.map((r) => columns.map((c) => cell(c.text ? c.text(r) : r[c.key])))]
  const a = document.createElement('a')
  a.href = URL.createObjectURL(new Blob([lines.map((l) => l.join(',')).join('\n') + '\n'], { type: 'text/csv' }))
  a.download = name + '.csv'
  a.click()
  setTimeout(() => URL.revokeObjectURL(a.href), 1000)
}
