// The one renderer of forms: a field for each property of a schema. A property that no field can show is written as
// JSON.
import { html, useRef } from '../ui.js'
import { t, has, about, lang } from '../words.js'
import { plain, variants, isTexts, first } from './schema.js'
import { label, choice, order, formOf, useless } from './labels.js'
import { Input } from './input.js'
import { List } from './list.js'
export { AsJSON } from './json.js'

const of = (errors, path) => errors.filter((e) => e.field === path || e.field.startsWith(path + '.') || e.field.startsWith(path + '['))
const filled = (v) => v !== undefined && v !== null && v !== '' && !(typeof v === 'object' && !Object.keys(v).length)

// Fields shows the properties of an object: the common ones, and the others behind "more". form names the kind of form;
// without lists properties that are not shown.
export function Fields({ doc, schema, value = {}, change, path = '', errors = [], without = [], form, lead }) {
  const s = plain(doc, schema)
  const now = value || {}
  const latest = useRef()
  latest.current = now
  // A browser that fills in several fields at once changes the second before the first is drawn.
  const put = (name, v) => {
    latest.current = { ...latest.current, [name]: v }
    change(latest.current)
  }
  const kind = form || formOf(s)
  const names = Object.keys(s.properties || {}).filter((n) => !without.includes(n) && !s.properties[n].readOnly && !useless(kind, n, now))
  const needed = new Set((s.required || []).filter((n) => names.includes(n)))
  const [shown, rest] = order(names, needed, kind)
  const one = (name) => html`<${Field} key=${name} doc=${doc} name=${name} schema=${plain(doc, s.properties[name])} needed=${needed.has(name)} value=${now[name]}
    path=${path ? path + '.' + name : name} errors=${errors} change=${(v) => put(name, v)} />`
  const busy = rest.filter((n) => filled(now[n]) || of(errors, path ? path + '.' + n : n).length)
  return html`<div class="fields">${lead}${shown.map(one)}
    ${rest.length > 0 && html`<details class="more" open=${busy.length > 0 || undefined}><summary>${t('form.more', { n: rest.length })}</summary><div class="fields">${rest.map(one)}</div></details>`}</div>`
}

export const idOf = (path) => 'f-' + path.replace(/\W+/g, '-')

function Field({ doc, name, schema, needed, value, change, path, errors }) {
  const wrong = of(errors, path)
  const own = wrong.filter((e) => e.field === path || !schema.properties)
  const id = idOf(path)
  const head = html`<span class="name" title=${name}>${label(name)}</span>${needed && html` <em aria-hidden="true">*</em>`}`
  const said = about(first(schema.description))
  const text = !needed && has('help.' + name) ? t('help.' + name) : said.text // otherwise the document's
  const help = html`${text && html`<span class="help" id=${id + '-help'} lang=${text === said.text ? said.in : undefined}>${text}</span>`}`
  const faults = html`${own.map((e) => html`<span class="wrong" role="alert">${e.message}</span>`)}`
  const choices = variants(doc, schema)
  if (isTexts(schema)) return html`<${Texts} head=${head} help=${help} faults=${faults} value=${value} change=${change} wrong=${own.length > 0} needed=${needed} />`
  if (choices || (schema.type === 'object' && schema.properties)) {
    if (!needed && value === undefined && !wrong.length) return html`<div class="field"><span class="name"><strong>${label(name)}</strong></span>${help}<button type="button" class="tiny" onClick=${() => change({})}>+ ${label(name)}</button></div>`
    return html`<fieldset><legend>${head}</legend>${help}${faults}
      ${choices ? html`<${Variant} doc=${doc} schema=${schema} choices=${choices} value=${value} change=${change} path=${path} errors=${errors} />` : html`<${Fields} doc=${doc} schema=${schema} value=${value || {}} change=${change} path=${path} errors=${errors} />`}
      ${!needed && html`<p><button type="button" class="tiny" onClick=${() => change(undefined)}>${t('form.remove')}</button></p>`}</fieldset>`
  }
  if (schema.type === 'array') return html`<${List} doc=${doc} schema=${schema} name=${name} head=${head} help=${help} faults=${faults} value=${value} change=${change} path=${path} errors=${errors} Fields=${Fields} Variant=${Variant} />`
  const wide = name === 'condition' || schema.maxLength > 2000 || (schema.type !== 'string' && !['integer', 'number', 'boolean'].includes(schema.type) && !schema.oneOf && !schema.anyOf)
  return html`<div class=${'field' + (wide ? ' wide' : '')}><label for=${id}>${head}</label>
    <${Input} schema=${schema} name=${name} id=${id} about=${text ? id + '-help' : undefined} value=${value} change=${change} wrong=${own.length > 0} needed=${needed} />${faults}${help}</div>`
}

// Texts are a text in the four languages, side by side.
function Texts({ head, help, faults, value = {}, change, wrong, needed }) {
  const all = [...new Set([...lang.all, ...Object.keys(value || {})])]
  const some = Object.values(value || {}).some(Boolean)
  const latest = useRef()
  latest.current = value
  const put = (l, text) => {
    const now = (latest.current = { ...latest.current, [l]: text || undefined })
    change(Object.values(now).some(Boolean) ? now : undefined)
  }
  return html`<fieldset><legend>${head}</legend>${help}${faults}<div class="tongues">
    ${all.map((l) => html`<label>${languageName(l)}<textarea rows="1" lang=${l} required=${(needed && !some && l === lang.now) || undefined} aria-invalid=${wrong || undefined} value=${value?.[l] ?? ''} onInput=${(e) => put(l, e.target.value)}></textarea></label>`)}
  </div></fieldset>`
}

function languageName(l) {
  try {
    return new Intl.DisplayNames(lang.now, { type: 'language' }).of(l)
  } catch {
    return l
  }
}

// Variant chooses between schemas by the value of one property.
export function Variant({ doc, schema, choices, value = {}, change, path, errors, without = [] }) {
  const by = schema.discriminator.propertyName
  const now = choices[value?.[by]]
  const id = idOf(path + '.' + by)
  const said = about(first(now?.properties?.[by]?.description))
  const chosen = html`<div class="field"><label for=${id}><span class="name">${label(by)}</span> <em aria-hidden="true">*</em></label><select id=${id} required value=${value?.[by] ?? ''} onChange=${(e) => change({ [by]: e.target.value || undefined })}>
      <option value="">–</option>${Object.keys(choices).map((v) => html`<option value=${v}>${choice(v)}</option>`)}</select>${now && html`<span class="help" lang=${said.in}>${said.text}</span>`}</div>`
  return html`<${Fields} doc=${doc} schema=${now || {}} value=${value} change=${change} path=${path} errors=${errors} without=${[by, ...without]} lead=${chosen} />`
}
