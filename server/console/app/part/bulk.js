// Work on many customers at once: the customers from a file, a text or a list, the progress, and the refusals with
// their reasons.
import { html, useEffect, useRef, useState } from '../ui.js'
import { t, number } from '../words.js'
import { get, post, id } from '../api.js'
import { Failure } from './state.js'
import { sure } from './dialog.js'
import { Table } from './table.js'
import { useChoices } from '../form/choices.js'

const pause = 700 // ms between two looks

// follow polls a batch until it is done.
export async function follow(path, batch, step, here = () => true) {
  for (let now = batch; here(); now = (await get(`${path}/${id(batch.batch_id)}/status`)).data) {
    step(now)
    if (now.status === 'done' || now.finished_at) return
    await new Promise((go) => setTimeout(go, pause))
  }
}

// idsIn reads ids from a text: the first column of a CSV, or one a line; a header line is left out.
export function idsIn(text) {
  const all = text.split(/\r?\n/).map((l) => l.split(/[,;\t]/)[0].trim().replace(/^"|"$/g, '')).filter(Boolean)
  if (/^(id|customer|customer_id)$/i.test(all[0] || '')) all.shift()
  const once = [...new Set(all)]
  return { ids: once, twice: all.length - once.length }
}

// Whom selects customers: pasted, from a file, or the members of a list.
export function Whom({ text, change, list, setList }) {
  const lists = useChoices('list')
  const read = async (file) => file && change(await file.text())
  return html`<label>${t('bulk.whom')}<textarea name="customers" rows="4" placeholder=${'member-1001\nmember-1002'} value=${text} onInput=${(e) => change(e.target.value)}></textarea></label>
    <label>${t('bulk.file')}<input type="file" accept=".csv,.txt,text/csv,text/plain" onChange=${(e) => read(e.target.files[0])} /></label>
    ${setList && lists.length > 0 && html`<label>${t('bulk.list')}<select name="list_id" value=${list} onChange=${(e) => setList(e.target.value)}><option value="">–</option>${lists.map((l) => html`<option value=${l.id}>${l.name || l.id}</option>`)}</select></label>`}`
}

// Bulk is a form for one operation on many customers: begin is its path, status the path of its batches, more the
// content above.
export function Bulk({ begin, status, title, text = '', lists, more }) {
  const [ids, setIds] = useState(text)
  const [list, setList] = useState('')
  const [state, set] = useState({})
  const alive = useRef(true)
  useEffect(() => () => (alive.current = false), [])
  const send = async (e) => {
    e.preventDefault()
    const found = idsIn(ids)
    const whom = list ? { list_id: list } : { customers: found.ids }
    if (!list && !found.ids.length) return set({ error: { message: t('bulk.nobody'), details: [] } })
    if (!(await sure(title, list ? t('bulk.members', { list }) : t('bulk.check', { n: found.ids.length, twice: found.twice })))) return
    try {
      const { data } = await post(begin, whom)
      await follow(status, data, (now) => set({ now }), () => alive.current)
      const errors = (await get(`${status}/${id(data.batch_id)}/status/errors`, { limit: 100 })).data
      set((s) => ({ ...s, errors }))
    } catch (error) {
      set({ error })
    }
  }
  const columns = [
    { key: 'customer', label: t('customer'), cell: (r) => html`<code>${r.customer}</code>` },
    { key: 'why', label: t('bulk.why'), cell: (r) => r.error.message, text: (r) => r.error.message },
    { key: 'code', label: t('error.code'), right: true, cell: (r) => r.error.code, text: (r) => r.error.code },
  ]
  const { now } = state
  return html`<form class="panel" onSubmit=${send}>${more}<${Whom} text=${ids} change=${setIds} list=${list} setList=${lists && setList} />
      <div class="actions"><button class="primary" disabled=${!begin || (now && now.status !== 'done')}>${title}</button></div>
      ${state.error && html`<${Failure} error=${state.error} />`}
      ${now && html`<div role="status"><p><strong>${number(now.done)} / ${number(now.total)}</strong> ${now.errors > 0 && html`<span class="wrong">${t('bulk.refused', { n: now.errors })}</span>`} ${now.status === 'done' && html`<span class="gain">${t('done')}</span>`}</p><div class="meter"><i style=${{ width: (100 * now.done) / (now.total || 1) + '%' }}></i></div></div>`}</form>
    ${state.errors?.length > 0 && html`<${Table} answer=${{ data: state.errors }} columns=${columns} name="refused" links=${false} />`}`
}
