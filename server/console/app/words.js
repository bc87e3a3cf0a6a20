// The console's words in four languages, and how numbers and times are written.
const languages = ['en', 'es', 'fr', 'hu']
const kept = 'loyalty.language'
let words = {}
let other = {}
let help = null // not needed yet
let zone
let currency = 'EUR'

export const lang = { now: 'en', all: languages }

// choose picks the language: the user's own choice, else the one in the user's record, else the browser's.
function choose(wish) {
  const asked = [localStorage.getItem(kept), wish, ...navigator.languages].filter(Boolean)
  return asked.map((l) => l.slice(0, 2)).find((l) => languages.includes(l)) || 'en'
}

export async function speak(wish) {
  lang.now = choose(wish)
  const read = async (l) => (await fetch(new URL(`./words/${l}.json`, import.meta.url))).json()
  words = await read(lang.now)
  other = lang.now === 'en' ? words : await read('en')
  if (help) await teach()
  document.documentElement.lang = lang.now
}

// teach reads the translations of the documents' sentences on fields, for forms. The key is the English sentence.
export async function teach() {
  help = lang.now === 'en' ? {} : await (await fetch(new URL(`./words/help/${lang.now}.json`, import.meta.url))).json()
}

// about returns a sentence of the documents in the language of the console, and the language that it is in.
export function about(sentence) {
  const text = help?.[sentence]
  return { text: text ?? sentence, in: text || lang.now === 'en' ? undefined : 'en' }
}

export function keepLanguage(l) {
  localStorage.setItem(kept, l)
  return speak(l)
}

// tame removes the characters that change the direction of writing: inside a text of ours they would turn ours.
const tame = (v) => String(v).replace(/[\u202a-\u202e\u2066-\u2069]/g, '')

// t returns a text; {name} in it is replaced. args.n chooses between the singular and the plural.
export function t(key, args = {}) {
  let text = words[key] ?? other[key] ?? key
  if (typeof text === 'object') text = text[new Intl.PluralRules(lang.now).select(args.n)] ?? text.other
  return text.replace(/\{(\w+)\}/g, (all, name) => (name in args ? (typeof args[name] === 'number' ? number(args[name]) : tame(args[name])) : all))
}

// languageName is a language's name for itself.
export const languageName = (l) => {
  const name = new Intl.DisplayNames(l, { type: 'language' }).of(l)
  return name[0].toLocaleUpperCase(l) + name.slice(1)
}

// has says whether a text exists, for example for an action of the platform.
export const has = (key) => key in words

// every returns the ends of the keys that begin with a text, in the order of the words.
export const every = (begin) => Object.keys(words).filter((key) => key.startsWith(begin)).map((key) => key.slice(begin.length)).sort((a, b) => t(begin + a).localeCompare(t(begin + b), lang.now))

export function settle(settings) {
  zone = settings.time_zone
  currency = settings.currency
}

// writer caches formatters of numbers and times: making one takes longer than drawing a row of a table.
const writers = new Map()
const writer = (kind, language, how) => {
  const key = kind.name + language + JSON.stringify(how)
  if (!writers.has(key)) writers.set(key, new kind(language, how))
  return writers.get(key)
}

export const number = (n, digits = 0) => (n == null ? '–' : writer(Intl.NumberFormat, lang.now, { maximumFractionDigits: digits }).format(n))
// money writes a sum; digits is for amounts finer than the currency's smallest coin.
export const money = (n, code, digits = 0) => {
  try {
    return writer(Intl.NumberFormat, lang.now, { style: 'currency', currency: code || currency, ...(digits && { maximumFractionDigits: digits }) }).format(n)
  } catch {
    return `${number(n, 2)} ${tame(code || '')}`
  }
}
const format = (iso, how) => {
  const at = new Date(iso)
  return Number.isNaN(+at) ? String(iso) : writer(Intl.DateTimeFormat, lang.now, { timeZone: zone, ...how }).format(at)
}
export const time = (iso) => (iso ? format(iso, { dateStyle: 'medium', timeStyle: 'short' }) : '–')
// A day without a time is the same day in every zone.
export const day = (iso) => (iso ? format(iso, { dateStyle: 'medium', ...(/^\d{4}-\d\d-\d\d$/.test(iso) ? { timeZone: 'UTC' } : {}) }) : '–')
export const clock = (iso) => format(iso, { timeStyle: 'medium' })

// tick names a minute, a day or a month (seconds, its beginning) under a chart; step is the distance between two ticks
// in seconds. Days and months are in UTC, minutes in the programme's zone.
export const tick = (at, step) =>
  step < 86400
    ? writer(Intl.DateTimeFormat, lang.now, { timeZone: zone, timeStyle: 'short' }).format(at * 1000)
    : writer(Intl.DateTimeFormat, lang.now, { timeZone: 'UTC', month: 'short', ...(step < 28 * 86400 ? { day: 'numeric' } : { year: 'numeric' }) }).format(at * 1000)
// month names a month YYYY-MM.
export const month = (text) => writer(Intl.DateTimeFormat, lang.now, { timeZone: 'UTC', month: 'short', year: 'numeric' }).format(Date.parse(text + '-01T00:00:00Z'))
export const zoneName = () => zone || Intl.DateTimeFormat().resolvedOptions().timeZone

// momentOf splits an instant or a day for a form: a day means its beginning in UTC, and has no time.
export function momentOf(value) {
  if (!value) return { day: '', clock: '' }
  const at = new Date(value)
  if (Number.isNaN(+at)) return { day: '', clock: '' }
  if (/^\d{4}-\d\d-\d\d(T00:00:00(\.0+)?Z)?$/.test(value)) return { day: value.slice(0, 10), clock: '' }
  const shown = wall(at)
  return { day: shown.slice(0, 10), clock: shown.slice(11, 16) }
}

// wall is the clock time in the programme's zone.
const wall = (at) => writer(Intl.DateTimeFormat, 'sv', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' }).format(at).replace(' ', 'T')

// instantOf is the instant of a clock time and day in the programme's zone.
export function instantOf(day, clock) {
  const wanted = Date.parse(`${day}T${clock}:00Z`)
  let at = wanted
  for (let turn = 0; turn < 2; turn++) at -= Date.parse(wall(new Date(at)) + 'Z') - wanted
  return new Date(at).toISOString()
}

// ago is the day so many days ago in the programme's zone; opensAt and closesAt are the beginning and the end of a day
// in that zone.
const dayMS = 86400000
export const ago = (days) => wall(new Date(Date.now() - days * dayMS)).slice(0, 10)
export const opensAt = (day) => instantOf(day, '00:00')
export const closesAt = (day) => opensAt(new Date(Date.parse(day) + dayMS).toISOString().slice(0, 10))

// title returns a text of the programme in the language of the console, else in any.
export const title = (texts) => (texts && typeof texts === 'object' ? texts[lang.now] || texts.en || Object.values(texts)[0] || '' : texts || '')
