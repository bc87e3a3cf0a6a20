// The one table: rows of a list with its links, sorted by the server if it can, a choice of columns, rows marked by
// click, shift-click or x, the page or the marked rows as CSV, moving by j and k.
import { html, useEffect, useMemo, useRef, useState } from '../ui.js'
import { t } from '../words.js'
import { filter, go, place } from '../router.js'
import { Empty } from './state.js'
import { saveAs } from './save.js'

const linkQuery = (link) => Object.fromEntries(new URLSearchParams(link.split('?')[1] || ''))
const keptAs = (name) => 'loyalty.columns.' + name
const hiddenOf = (name) => (localStorage.getItem(keptAs(name)) || '').split(',').filter(Boolean)

// A long list is drawn step by step: first a screenful, the rest while the user looks at it.
const step = 100
function useDrawn(rows) {
  const [drawn, draw] = useState({ rows, n: step })
  const n = drawn.rows === rows ? drawn.n : step
  useEffect(() => {
    if (n >= rows.length) return
    const next = setTimeout(() => draw({ rows, n: n + step }))
    return () => clearTimeout(next)
  }, [rows, n])
  return n
}

// Table shows answer.data. columns: {key, label, cell(row), text(row), right, sort}; sort is the server's name of the
// order. to(row) is the target of a row; idOf(row) allows rows to be marked, and marked(rows) returns their actions.
export function Table({ answer, columns, to, empty, name = 'rows', links = true, idOf, marked }) {
  const body = useRef()
  const last = useRef(-1)
  const [away, hide] = useState(hiddenOf(name))
  const [chosen, choose] = useState([])
  const rows = answer.data
  const drawn = useDrawn(rows)
  const mark = (at, range) => {
    const one = idOf(rows[at])
    const on = !chosen.includes(one)
    const [from, until] = range && last.current >= 0 ? [Math.min(last.current, at), Math.max(last.current, at)] : [at, at]
    const some = rows.slice(from, until + 1).map(idOf)
    choose(on ? [...new Set([...chosen, ...some])] : chosen.filter((c) => !some.includes(c)))
    last.current = at
  }
  useEffect(() => {
    const pressed = (e) => {
      if (localStorage.getItem('loyalty.keys') === 'off') return
      if (!['j', 'k', 'x'].includes(e.key) || e.ctrlKey || e.metaKey || e.altKey || e.target.closest?.('input:not([type=checkbox]), textarea, select, dialog')) return
      const all = [...(body.current?.querySelectorAll('tr') || [])]
      const at = all.indexOf(document.activeElement?.closest('tr'))
      if (e.key === 'x') return idOf && at >= 0 && mark(at, e.shiftKey)
      all[Math.max(0, Math.min(all.length - 1, at + (e.key === 'j' ? 1 : -1)))]?.focus()
    }
    document.addEventListener('keydown', pressed)
    return () => document.removeEventListener('keydown', pressed)
  }, [rows, chosen])
  if (!rows.length && !place().query.cursor) return empty || html`<${Nothing} />`
  const turn = (link) => {
    const { cursor, offset } = linkQuery(link)
    filter({ cursor, offset })
  }
  const shown = columns.filter((c) => !c.label || !away.includes(c.key))
  const put = (key, on) => {
    const now = on ? away.filter((k) => k !== key) : [...away, key]
    localStorage.setItem(keptAs(name), now.join(','))
    hide(now)
  }
  const picked = idOf ? rows.filter((r) => chosen.includes(idOf(r))) : []
  const reach = to || idOf
  const line = (row, at) => html`<tr tabindex=${reach ? 0 : undefined} class=${to ? 'link' : ''} aria-selected=${idOf && chosen.includes(idOf(row)) ? 'true' : undefined}
            onClick=${(e) => (e.shiftKey && idOf ? (e.preventDefault(), mark(at, true)) : to && !e.target.closest('a, button, input, select, summary, pre') && go(to(row)))} onKeyDown=${(e) => to && e.key === 'Enter' && e.target === e.currentTarget && go(to(row))}>
            ${idOf && html`<td><input type="checkbox" aria-label=${t('list.mark', { id: idOf(row) })} checked=${chosen.includes(idOf(row))} onClick=${(e) => (e.stopPropagation(), mark(at, e.shiftKey))} /></td>`}
            ${shown.map((c) => html`<td class=${c.right ? 'right' : ''}>${c.cell ? c.cell(row) : plain(row[c.key])}</td>`)}
          </tr>`
  // A line that is drawn is not compared again while more lines are added.
  const made = useMemo(() => [], [rows, columns, chosen, away])
  const lines = (n) => {
    for (let at = made.length; at < Math.min(n, rows.length); at++) made.push(line(rows[at], at))
    return [...made]
  }
  return html`
    <div class="scroll" tabindex="0" role="group" aria-label=${t('list.rows')}>
      <table>
        <thead><tr>${idOf && html`<td><input type="checkbox" aria-label=${t('list.all')} checked=${rows.length > 0 && picked.length === rows.length} onChange=${(e) => choose(e.target.checked ? rows.map(idOf) : [])} /></td>`}${shown.map((c) => html`<${Head} c=${c} />`)}</tr></thead>
        <tbody ref=${body}>
          ${lines(drawn)}
        </tbody>
      </table>
    </div>
    <div class="foot">
      ${links && answer.previous && html`<button onClick=${() => turn(answer.previous)}>← ${t('list.previous')}</button>`}
      ${links && answer.next && html`<button onClick=${() => turn(answer.next)}>${t('list.next')} →</button>`}
      ${picked.length > 0 && html`<strong role="status">${t('list.marked', { n: picked.length })}</strong>${marked?.(picked, () => choose([]))}`}
      <span class="grow"></span>
      ${columns.length > 4 && html`<details class="data columns"><summary>${t('list.columns')}</summary>${columns.filter((c) => c.label).map((c) => html`<label class="check"><input type="checkbox" checked=${!away.includes(c.key)} onChange=${(e) => put(c.key, e.target.checked)} /> ${c.label}</label>`)}</details>`}
      <button class="quiet tiny" onClick=${() => save(name, shown, picked.length ? picked : rows)}>CSV</button>
    </div>`
}

// standing are the parameters that choose a view and filter nothing.
const standing = ['tab', 'view', 'type', 'sort', 'order', 'step']

// Nothing is a list without rows. If filters may be the reason, they can be removed.
function Nothing() {
  const narrow = Object.keys(place().query).filter((name) => !standing.includes(name))
  return html`<${Empty} text=${t('list.none')}>${narrow.length > 0 && html`<button onClick=${() => filter(Object.fromEntries(narrow.map((name) => [name, ''])))}>${t('list.widen')}</button>`}</${Empty}>`
}

// Head is the head of a column. If the server can sort by it, a click does so, and another click reverses the order.
function Head({ c }) {
  if (!c.label) return html`<td></td>`
  if (!c.sort) return html`<th scope="col" class=${c.right ? 'right' : ''}>${c.label}</th>`
  const { sort, order } = place().query
  const on = sort === c.sort
  const next = on && order !== 'desc' ? 'desc' : 'asc'
  return html`<th scope="col" class=${c.right ? 'right' : ''} aria-sort=${on ? (order === 'desc' ? 'descending' : 'ascending') : undefined}><button class="sort" onClick=${() => filter({ sort: c.sort, order: next })}>${c.label} <span aria-hidden="true">${on ? (order === 'desc' ? '↓' : '↑') : '↕'}</span></button></th>`
}

const plain = (v) => (v == null ? '–' : typeof v === 'object' ? JSON.stringify(v) : String(v))

// save downloads rows as CSV. A text that a spreadsheet would take for a formula gets an apostrophe.
function save(name, columns, rows) {
  const cell = (v) => {
    let text = plain(v) === '–' ? '' : plain(v)
    if ((/^[\t\r\n']/.test(text) || /^[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠]/u.test(text)) && typeof v !== 'number') text = "'" + text
    return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text
  }
  const kept = columns.filter((c) => c.label)
  const lines = [kept.map((c) => cell(c.label)), ...rows.map((r) => kept.map((c) => cell(c.text ? c.text(r) : r[c.key])))]
  saveAs(name + '.csv', lines.map((l) => l.join(',')).join('\n') + '\n', 'text/csv')
}
