// Imports from another system. Files are sent, checked against each other, taken over, and compared with the ledger.
// Each step continues after its answer, so the screen follows it.
import { html, useEffect, useState } from '../ui.js'
import { t, has, number } from '../words.js'
import { get, post, can, id } from '../api.js'
import { filter } from '../router.js'
import { useLoad } from '../load.js'
import { Loaded, Failure, Empty } from './state.js'
import { Table } from './table.js'
import { Badge, Card } from './figures.js'
import { sure } from './dialog.js'
import { size } from './system.js'
import { When } from './when.js'
import { saveAs } from './save.js'

const kinds = ['members', 'purchases', 'lots', 'tiers', 'coupons', 'lists']
const encodings = ['utf-8', 'windows-1250', 'windows-1252', 'iso-8859-2', 'utf-16le']
const busy = ['checking', 'applying', 'reconciling']
const longest = 900000 // characters of a part
const readable = 5000 // findings that are shown here; more are a file
const pause = 1000 // ms between two looks

const State = ({ of }) => html`<span class=${'badge ' + (of === 'done' || of === 'ready' ? 'good' : of === 'faulty' ? 'bad' : '')}>${t('import.' + of)}</span>`
const file = (kind) => (has('export.' + kind) ? t('export.' + kind) : t('import.' + kind))
const refusal = (text) => ({ message: text, details: [] })

export function Imports({ place }) {
  const one = place.query.import
  return one ? html`<${One} name=${one} key=${one} />` : html`<${All} place=${place} />`
}

// columnsOf reads lines "members: Member no. = customer" into the columns of each file.
function columnsOf(text) {
  /** @type {{ [kind: string]: { [theirs: string]: string } }} */
  const all = {}
  for (const line of text.split('\n').filter((l) => l.trim())) {
    const [, kind, theirs, ours] = /^\s*(\w+)\s*:\s*(.+?)\s*=\s*(.*?)\s*$/.exec(line) || []
    if (!kinds.includes(kind)) throw refusal(t('import.columns.wrong', { line }))
    all[kind] = { ...all[kind], [theirs]: ours }
  }
  return Object.keys(all).length ? all : undefined
}

function All({ place }) {
  const { offset } = place.query
  const all = useLoad(() => get('/admin/imports', { limit: 50, offset }), [offset])
  const [wrong, fail] = useState(null)
  const begin = async (e) => {
    e.preventDefault()
    const said = new FormData(e.target)
    const text = (name) => String(said.get(name) || '') || undefined
    try {
      const { data } = await post('/admin/imports', { label: text('label'), dates: /** @type {any} */ (text('dates')), decimal: /** @type {any} */ (text('decimal')), allow_same_email: said.has('same'), columns: columnsOf(text('columns') || '') })
      filter({ import: data.import_id })
    } catch (error) {
      fail(error)
    }
  }
  const columns = [
    { key: 'created_at', label: t('time'), cell: (i) => html`<${When} at=${i.created_at} />` },
    { key: 'label', label: t('name'), cell: (i) => html`<a href=${'#/administration?tab=imports&import=' + id(i.import_id)}>${i.label || i.import_id}</a>` },
    { key: 'status', label: t('status'), cell: (i) => html`<${State} of=${i.status} />`, text: (i) => i.status },
    { key: 'rows', label: t('import.rows'), right: true, cell: (i) => (i.rows ? `${number(i.rows.done)} / ${number(i.rows.total)}` : '–'), text: (i) => i.rows?.done },
    { key: 'findings', label: t('import.findings'), right: true, cell: (i) => number(i.findings) },
  ]
  return html`<p class="lead">${t('import.text')}</p>${wrong && html`<${Failure} error=${wrong} />`}
    ${can('createImport') && html`<form class="panel" onSubmit=${begin}><div class="fields"><label>${t('name')}<input name="label" maxlength="255" /></label>
      <label>${t('import.dates')}<select name="dates"><option value="">${t('import.dates.year')}</option><option value="dmy">${t('import.dates.dmy')}</option><option value="mdy">${t('import.dates.mdy')}</option></select></label>
      <label>${t('import.decimal')}<select name="decimal"><option value="">–</option><option>.</option><option>,</option></select></label>
      <label class="wide">${t('import.columns')}<textarea class="code" name="columns" rows="2" placeholder=${"members: Member no. = customer\nmembers: * ="}></textarea></label></div>
      <p><label class="check"><input type="checkbox" name="same" /> ${t('import.same')}</label></p><button class="primary">${t('import.new')}</button></form>`}
    <${Loaded} of=${all}>${(d) => html`<${Table} answer=${d} columns=${columns} to=${(i) => '/administration?tab=imports&import=' + id(i.import_id)} name="imports" empty=${html`<${Empty} text=${t('import.none')} />`} />`}</${Loaded}>`
}

function One({ name }) {
  const path = '/admin/imports/' + id(name)
  const now = useLoad(() => get(path), [name])
  const [wrong, fail] = useState(null)
  const { data: i } = now.data || {}
  useEffect(() => {
    if (!busy.includes(i?.status)) return
    const next = setTimeout(now.again, pause)
    return () => clearTimeout(next)
  }, [now.data])
  const act = async (what, ask) => {
    if (ask && !(await sure(ask, t('import.apply.text')))) return
    try {
      await post(path + what, {})
      fail(null)
      now.again()
    } catch (error) {
      fail(error)
    }
  }
  const still = busy.includes(i?.status)
  return html`<p class="crumb"><a href="#/administration?tab=imports">${t('admin.imports')}</a> ›</p>${wrong && html`<${Failure} error=${wrong} />`}
    <${Loaded} of=${now}>${() => html`<h2>${i.label || i.import_id} <${State} of=${i.status} /></h2>
      ${i.fault && html`<p class="wrong" role="alert">${i.fault}</p>`}
      ${can('addImportFile') && !still && i.status !== 'done' && html`<${Send} path=${path} files=${i.files} sent=${now.again} />`}
      <${Table} answer=${{ data: i.files }} columns=${files()} name="files" links=${false} empty=${html`<${Empty} text=${t('import.files.none')} />`} />
      <div class="actions">${can('checkImport') && i.files.length > 0 && ['open', 'faulty', 'ready'].includes(i.status) && html`<button class=${i.status === 'ready' ? '' : 'primary'} onClick=${() => act('/check')}>${t('import.check')}</button>`}
        ${can('applyImport') && i.status === 'ready' && html`<button class="primary" onClick=${() => act('/apply', t('import.apply'))}>${t('import.apply')}</button>`}
        ${can('reconcileImport') && i.status === 'done' && i.files.length > 0 && html`<button onClick=${() => act('/reconcile')}>${t('import.reconcile')}</button>`}</div>
      <div role="status">${still && html`<p class="soft">${t('import.' + i.status)}…</p>`}${i.rows && html`<${Rows} of=${i.rows} />`}</div>
      ${i.plan && html`<${Plan} of=${i.plan} />`}${i.account && html`<${Account} of=${i.account} />`}
      ${can('listImportFindings') && i.findings > 0 && !still && html`<${Findings} path=${path} n=${i.findings} at=${i.updated_at} />`}`}</${Loaded}>`
}

const files = () => [
  { key: 'file', label: t('import.file'), cell: (f) => file(f.file) },
  { key: 'parts', label: t('import.parts'), right: true, cell: (f) => number(f.parts) },
  { key: 'bytes', label: t('import.size'), right: true, cell: (f) => size(f.bytes) },
]

// cut splits a text into parts, never within a character.
export function cut(text) {
  const parts = []
  for (let from = 0; from < text.length; ) {
    let to = Math.min(text.length, from + longest)
    if (to < text.length && /[\ud800-\udbff]/.test(text[to - 1])) to--
    parts.push(text.slice(from, to))
    from = to
  }
  return parts
}

function Send({ path, files: there, sent }) {
  const [state, set] = useState({})
  const send = async (e) => {
    e.preventDefault()
    const form = e.target
    const { kind, encoding, chosen } = form.elements
    try {
      const octets = await chosen.files[0].arrayBuffer()
      let text
      try {
        text = new TextDecoder(encoding.value, { fatal: true }).decode(octets)
      } catch {
        throw refusal(t('import.encoding.wrong', { encoding: encoding.value }))
      }
      const parts = cut(text)
      if (!parts.length) throw refusal(t('import.empty'))
      if ((there.find((f) => f.file === kind.value)?.parts || 0) > parts.length) throw refusal(t('import.fewer')) // parts of the file before would stay behind it
      for (let at = 0; at < parts.length; at++) {
        set({ done: at, total: parts.length })
        await post(path + '/files', { file: kind.value, part: at + 1, content: parts[at] })
      }
      set({})
      form.reset()
    } catch (error) {
      set({ error })
    }
    sent()
  }
  return html`<form class="filters" onSubmit=${send}><label>${t('import.file')}<select name="kind">${kinds.map((k) => html`<option value=${k}>${file(k)}</option>`)}</select></label>
      <label>${t('import.encoding')}<select name="encoding">${encodings.map((c) => html`<option>${c}</option>`)}</select></label>
      <label>CSV<input type="file" name="chosen" accept=".csv,.txt,.tsv,text/csv,text/plain" required /></label><button class="primary" disabled=${state.total > 0}>${t('import.send')}</button></form>
    ${state.total > 0 && html`<${Rows} of=${state} />`}${state.error && html`<${Failure} error=${state.error} />`}`
}

const Rows = ({ of }) => html`<p><strong>${number(of.done)} / ${number(of.total)}</strong> ${of.refused > 0 && html`<span class="wrong">${t('bulk.refused', { n: of.refused })}</span>`}</p><div class="meter"><i style=${{ width: (100 * of.done) / (of.total || 1) + '%' }}></i></div>`

function Plan({ of }) {
  const lines = [...Object.entries(of.expiring).map(([month, n]) => ({ what: t('import.expiring', { month }), n: number(n) })), ...Object.entries(of.purchases).map(([currency, sum]) => ({ what: t('import.purchased', { currency }), n: sum }))]
  const columns = [{ key: 'what', label: t('import.plan') }, { key: 'n', label: t('import.sum'), right: true }]
  return html`<h3>${t('import.plan')}</h3><div class="cards">${Object.entries(of.rows).map(([kind, n]) => html`<${Card} label=${file(kind)} value=${number(n)} note=${t('import.rows')} />`)}
    ${['new_members', 'known_members', 'points', 'faults', 'warnings'].map((f) => html`<${Card} label=${t('import.plan.' + f)} value=${number(of[f])} />`)}</div>
    ${lines.length > 0 && html`<${Table} answer=${{ data: lines }} columns=${columns} name="plan" links=${false} />`}`
}

const Account = ({ of }) => html`<h3>${t('import.account')} <${Badge} state=${of.exact ? 'held' : 'broken'} /></h3><p>${t('import.account.text', { lots: of.lots, points: of.points, expected_lots: of.expected_lots, expected_points: of.expected_points, different: of.different })}</p>`

// linesOf reads CSV.
function linesOf(text) {
  const [, ...lines] = text.trim().split(/\n(?=(?:[^"]*"[^"]*")*[^"]*$)/)
  return lines.map((l) => [...l.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map((m) => m[1]?.replaceAll('""', '"') ?? m[2] ?? ''))
}

function Findings({ path, n, at }) {
  const few = n <= readable
  const [wrong, fail] = useState(null)
  const take = () => get(path + '/findings').then((text) => saveAs('findings.csv', String(text), 'text/csv'), fail) // in the language of the console
  const all = useLoad(async () => (few ? linesOf(String(await get(path + '/findings'))) : []), [path, n, at])
  const columns = ['file', 'line', 'column', 'severity', 'message'].map((key, k) => ({ key, label: t('import.found.' + key), right: key === 'line', cell: (r) => r[k], text: (r) => r[k] }))
  return html`<h3>${t('import.findings')}: ${number(n)}</h3><p><button onClick=${take}>${t('export.do')}</button></p>${wrong && html`<${Failure} error=${wrong} />`}
    ${few ? html`<${Loaded} of=${all}>${(lines) => html`<${Table} answer=${{ data: lines.slice(0, 200) }} columns=${columns} name="findings" links=${false} />`}</${Loaded}>` : html`<p>${t('import.many')}</p>`}
    ${few && n > 200 && html`<p class="small">${t('import.first')}</p>`}`
}
