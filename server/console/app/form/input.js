// One value: a text, a number, a choice, a moment, or a reference.
import { html } from '../ui.js'
import { t, momentOf, instantOf, zoneName } from '../words.js'
import { choice, isAction, kindOf } from './labels.js'
import { useChoices } from './choices.js'
import { AsJSON } from './json.js'
import { Condition } from './condition.js'

export const isMoment = (s) => s.format === 'day-or-instant' || s.format === 'date-time' || s.format === 'instant' || (s.oneOf || s.anyOf || []).some((o) => o.type === 'string') && /RFC 3339/.test(s.description || '')

// Input writes one value of a schema. name is its property; id and about connect it to its label and help.
export function Input({ schema, name = '', value, change, wrong, needed, id, about, mark }) {
  const set = (e) => change(e.target.value === '' ? undefined : e.target.value)
  const common = { id, 'aria-describedby': about, 'aria-invalid': wrong || undefined, required: needed || undefined, 'aria-label': mark }
  const open = { ...common, placeholder: schema.example === undefined || typeof schema.example === 'object' ? '' : t('form.eg', { v: String(schema.example) }) } // only a placeholder: it is not sent
  if (schema.enum) {
    return html`<select ...${common} value=${value ?? ''} onChange=${set}>${!(needed && value) && html`<option value="">–</option>`}${schema.enum.map((v) => html`<option value=${v}>${choice(v)}</option>`)}</select>`
  }
  if (schema.type === 'boolean') {
    return html`<select ...${common} value=${value === undefined ? '' : String(value)} onChange=${(e) => change(e.target.value === '' ? undefined : e.target.value === 'true')}><option value="">–</option><option value="true">${t('yes')}</option><option value="false">${t('no')}</option></select>`
  }
  if (schema.type === 'integer' || schema.type === 'number') {
    return html`<input type="number" step=${schema.type === 'integer' ? 1 : 'any'} min=${schema.minimum} ...${open} value=${value ?? ''} onInput=${(e) => change(e.target.value === '' ? undefined : Number(e.target.value))} />`
  }
  if (isMoment(schema)) return html`<${Moment} common=${common} value=${value} change=${change} />`
  if (schema.type !== 'string') return html`<${AsJSON} value=${value} change=${change} mark=${mark} id=${id} />`
  if (schema.format === 'date') return html`<input type="date" ...${common} value=${value ?? ''} onInput=${set} />`
  if (name === 'condition') return html`<${Condition} common=${open} value=${value} set=${set} change=${change} />`
  if (kindOf(name) || isAction(name)) return html`<${Named} common=${open} name=${name} value=${value} set=${set} />`
  if (schema.maxLength > 2000) return html`<textarea ...${open} value=${value ?? ''} onInput=${set}></textarea>`
  return html`<input type=${schema.format === 'uri' ? 'url' : 'text'} ...${open} value=${value ?? ''} onInput=${set} />`
}

// Moment is a day, with an optional time in the programme's zone.
function Moment({ common, value, change }) {
  const { day, clock } = momentOf(value)
  const put = (d, c) => change(d ? (c ? instantOf(d, c) : d) : undefined)
  return html`<span class="moment"><input type="date" ...${common} value=${day} onInput=${(e) => put(e.target.value, clock)} />
    <input type="time" aria-label=${t('form.clock', { zone: zoneName() })} title=${zoneName()} value=${clock} disabled=${!day} onInput=${(e) => put(day, e.target.value)} /></span>`
}

function Named({ common, name, value, set }) {
  const all = useChoices(name)
  const list = 'choices-' + name
  return html`<input ...${common} list=${list} autocomplete="off" value=${value ?? ''} onInput=${set} /><datalist id=${list}>${all.map((c) => html`<option value=${c.id}>${c.name}</option>`)}</datalist>`
}
