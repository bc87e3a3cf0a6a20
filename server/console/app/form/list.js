// Lists: references as chips, texts one a line, and all other values below each other.
import { html } from '../ui.js'
import { t } from '../words.js'
import { plain, variants } from './schema.js'
import { kindOf } from './labels.js'
import { useChoices } from './choices.js'
import { Input } from './input.js'

const idOf = (path) => 'f-' + path.replace(/\W+/g, '-')

export function List({ doc, schema, name, head, help, faults, value = [], change, path, errors, Fields, Variant }) {
  const items = plain(doc, schema.items)
  const id = idOf(path)
  const rows = value || []
  if (items.type === 'string' && !items.enum && kindOf(name)) return html`<${Chips} name=${name} id=${id} head=${head} help=${help} faults=${faults} rows=${rows} change=${change} />`
  if (items.type === 'string' && !items.enum) {
    return html`<div class="field"><label for=${id}>${head}</label><textarea id=${id} rows="2" placeholder=${t('form.lines')} value=${rows.join('\n')} onInput=${(e) => change(e.target.value ? e.target.value.split('\n').filter((l, i, all) => l || i === all.length - 1) : undefined)} onBlur=${() => change(rows.filter(Boolean).length ? rows.filter(Boolean) : undefined)}></textarea>${faults}${help}</div>`
  }
  const choices = variants(doc, items)
  const put = (i, v) => change(rows.map((r, n) => (n === i ? v : r)))
  const away = (i) => change(rows.length > 1 ? rows.filter((_, n) => n !== i) : undefined)
  return html`<fieldset><legend>${head}</legend>${help}${faults}
    ${rows.map((row, i) => html`<fieldset class="item" key=${i}><legend class="hidden">${name} ${i + 1}</legend>
      ${choices
        ? html`<${Variant} doc=${doc} schema=${items} choices=${choices} value=${row} change=${(v) => put(i, v)} path=${`${path}[${i}]`} errors=${errors} />`
        : items.properties
          ? html`<${Fields} doc=${doc} schema=${items} value=${row} change=${(v) => put(i, v)} path=${`${path}[${i}]`} errors=${errors} />`
          : html`<${Input} schema=${items} name=${name} mark=${`${name} ${i + 1}`} value=${row} change=${(v) => put(i, v)} />`}
      <button type="button" class="quiet tiny remove" aria-label=${`${t('form.remove')} ${i + 1}`} title=${t('form.remove')} onClick=${() => away(i)}>✕</button>
    </fieldset>`)}
    <button type="button" class="tiny" onClick=${() => change([...rows, items.properties || choices ? {} : undefined])}>+ ${t('form.add')}</button>
  </fieldset>`
}

// Chips are ids of entities of one kind: a name adds one, and a click removes it.
function Chips({ name, id, head, help, faults, rows, change }) {
  const all = useChoices(name)
  const named = (one) => all.find((c) => c.id === one)?.name || one
  const add = (e) => {
    const wanted = e.target.value.trim()
    if (wanted && !rows.includes(wanted)) change([...rows, wanted])
    e.target.value = ''
  }
  const enter = (e) => e.key === 'Enter' && (e.preventDefault(), add(e))
  return html`<div class="field"><label for=${id}>${head}</label>
    ${rows.length > 0 && html`<div class="chips">${rows.map((r) => html`<button type="button" title=${t('form.remove')} onClick=${() => change(rows.length > 1 ? rows.filter((x) => x !== r) : undefined)}>${named(r)} ✕</button>`)}</div>`}
    <input id=${id} list=${id + '-all'} autocomplete="off" placeholder=${t('form.choose')} onChange=${add} onKeyDown=${enter} /><datalist id=${id + '-all'}>${all.filter((c) => !rows.includes(c.id)).map((c) => html`<option value=${c.id}>${c.name}</option>`)}</datalist>${faults}${help}</div>`
}
