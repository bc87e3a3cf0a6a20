// The one renderer of forms: a field for each property of a schema. What no field can say is written as JSON.
import { html, useState, useEffect } from '../ui.js'
import { t, lang } from '../words.js'
import { plain, variants, isTexts, first } from './schema.js'

const byPath = (errors, path) => errors.filter((e) => e.field === path || e.field.startsWith(path + '.') || e.field.startsWith(path + '[')).map((e) => e.message)

// Fields shows the properties of an object. without names properties that are not shown.
export function Fields({ doc, schema, value = {}, change, path = '', errors = [], without = [] }) {
  const s = plain(doc, schema)
  const names = Object.keys(s.properties || {}).filter((n) => !without.includes(n) && !s.properties[n].readOnly)
  const needed = new Set(s.required || [])
  names.sort((a, b) => needed.has(b) - needed.has(a))
  return names.map((name) => html`<${Field} key=${name} doc=${doc} name=${name} schema=${plain(doc, s.properties[name])} needed=${needed.has(name)} value=${value[name]}
    path=${path ? path + '.' + name : name} errors=${errors} change=${(v) => change({ ...value, [name]: v })} />`)
}

function Field({ doc, name, schema, needed, value, change, path, errors }) {
  const wrong = byPath(errors, path)
  const about = first(schema.description)
  const label = html`<span class="name">${name}${needed ? ' *' : ''}</span>`
  const note = html`${about && html`<span class="small"> ${about}</span>`}${wrong.map((m) => html`<span class="wrong" role="alert"> ${m}</span>`)}`
  const choices = variants(doc, schema)
  if (isTexts(schema)) return html`<${Texts} label=${label} note=${note} value=${value} change=${change} />`
  if (choices) return html`<fieldset><legend>${label}</legend>${note}<${Variant} doc=${doc} schema=${schema} choices=${choices} value=${value} change=${change} path=${path} errors=${errors} /></fieldset>`
  if (schema.type === 'object' && schema.properties) {
    return html`<fieldset><legend>${label}</legend>${note}<${Fields} doc=${doc} schema=${schema} value=${value || {}} change=${change} path=${path} errors=${errors} /></fieldset>`
  }
  if (schema.type === 'array') return html`<${List} doc=${doc} schema=${schema} label=${label} note=${note} value=${value} change=${change} path=${path} errors=${errors} />`
  return html`<label>${label}${note}<${Input} schema=${schema} value=${value} change=${change} wrong=${wrong.length > 0} needed=${needed} /></label>`
}

function Input({ schema, value, change, wrong, needed }) {
  const set = (e) => change(e.target.value === '' ? undefined : e.target.value)
  const common = { 'aria-invalid': wrong || undefined, required: needed || undefined, placeholder: schema.example === undefined ? '' : typeof schema.example === 'object' ? JSON.stringify(schema.example) : String(schema.example) }
  if (schema.enum) return html`<select ...${common} value=${value ?? ''} onChange=${set}><option value="">–</option>${schema.enum.map((v) => html`<option value=${v}>${v}</option>`)}</select>`
  if (schema.type === 'boolean') return html`<select value=${value === undefined ? '' : String(value)} onChange=${(e) => change(e.target.value === '' ? undefined : e.target.value === 'true')}><option value="">–</option><option value="true">${t('yes')}</option><option value="false">${t('no')}</option></select>`
  if (schema.type === 'integer' || schema.type === 'number') return html`<input type="number" step=${schema.type === 'integer' ? 1 : 'any'} ...${common} value=${value ?? ''} onInput=${(e) => change(e.target.value === '' ? undefined : Number(e.target.value))} />`
  if (schema.type === 'string') return schema.maxLength > 500 ? html`<textarea ...${common} value=${value ?? ''} onInput=${set}></textarea>` : html`<input ...${common} value=${value ?? ''} onInput=${set} />`
  return html`<${AsJSON} value=${value} change=${change} />`
}

// Texts are a text in the four languages, side by side.
function Texts({ label, note, value = {}, change }) {
  const all = [...new Set([...lang.all, ...Object.keys(value || {})])]
  return html`<fieldset><legend>${label}</legend>${note}<div class="tongues">
    ${all.map((l) => html`<label><span>${l}</span><textarea lang=${l} value=${value?.[l] ?? ''} onInput=${(e) => change({ ...value, [l]: e.target.value || undefined })}></textarea></label>`)}
  </div></fieldset>`
}

// Variant chooses among schemas by the value of one property.
export function Variant({ doc, schema, choices, value = {}, change, path, errors, without = [] }) {
  const by = schema.discriminator.propertyName
  const now = choices[value?.[by]]
  return html`<label><span class="name">${by} *</span><select value=${value?.[by] ?? ''} onChange=${(e) => change({ [by]: e.target.value || undefined })}>
      <option value="">–</option>${Object.keys(choices).map((v) => html`<option value=${v}>${v}</option>`)}</select></label>
    ${now && html`<${Fields} doc=${doc} schema=${now} value=${value} change=${change} path=${path} errors=${errors} without=${[by, ...without]} />`}`
}

function List({ doc, schema, label, note, value = [], change, path, errors }) {
  const items = plain(doc, schema.items)
  if (items.type === 'string' && !items.enum) {
    return html`<label>${label}${note}<textarea placeholder=${t('form.lines')} value=${(value || []).join('\n')} onInput=${(e) => change(e.target.value ? e.target.value.split('\n').filter((l, i, all) => l || i === all.length - 1) : undefined)} onBlur=${() => change((value || []).filter(Boolean))}></textarea></label>`
  }
  const rows = value || []
  const choices = variants(doc, items)
  const put = (i, v) => change(rows.map((r, n) => (n === i ? v : r)))
  return html`<fieldset><legend>${label}</legend>${note}
    ${rows.map((row, i) => html`<fieldset><legend>${i + 1}</legend>
      ${choices
        ? html`<${Variant} doc=${doc} schema=${items} choices=${choices} value=${row} change=${(v) => put(i, v)} path=${`${path}[${i}]`} errors=${errors} />`
        : items.properties
          ? html`<${Fields} doc=${doc} schema=${items} value=${row} change=${(v) => put(i, v)} path=${`${path}[${i}]`} errors=${errors} />`
          : html`<${Input} schema=${items} value=${row} change=${(v) => put(i, v)} />`}
      <button type="button" onClick=${() => change(rows.filter((_, n) => n !== i))}>${t('form.remove')}</button>
    </fieldset>`)}
    <button type="button" onClick=${() => change([...rows, items.properties || choices ? {} : undefined])}>${t('form.add')}</button>
  </fieldset>`
}

// AsJSON is for what no field can say. Text that is not JSON is kept and marked.
export function AsJSON({ value, change, rows = 6 }) {
  const [text, set] = useState(value === undefined ? '' : JSON.stringify(value, null, 2))
  const [wrong, fail] = useState('')
  useEffect(() => {
    let same = false
    try {
      same = JSON.stringify(JSON.parse(text)) === JSON.stringify(value)
    } catch {}
    if (!same && !wrong) set(value === undefined ? '' : JSON.stringify(value, null, 2))
  }, [value])
  const put = (e) => {
    set(e.target.value)
    try {
      change(e.target.value.trim() ? JSON.parse(e.target.value) : undefined)
      fail('')
    } catch (error) {
      fail(error.message)
    }
  }
  return html`<textarea rows=${rows} spellcheck=${false} value=${text} onInput=${put} aria-invalid=${Boolean(wrong)}></textarea>${wrong && html`<span class="wrong">${wrong}</span>`}`
}
