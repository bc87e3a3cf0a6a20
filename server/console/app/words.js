// The console's words in four languages, and how numbers and times are written.
const languages = ['en', 'es', 'fr', 'hu']
const kept = 'loyalty.language'
let words = {}
let other = {}
let help = null // nobody has needed it yet
let zone
let currency = 'EUR'

export const lang = { now: 'en', all: languages }

// choose picks the language: the user's own choice, else what their record says, else the browser's.
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

// teach reads what the documents say of their fields, for forms: by the English sentence, which is not written twice.
export async function teach() {
  help = lang.now === 'en' ? {} : await (await fetch(new URL(`./words/help/${lang.now}.json`, import.meta.url))).json()
}

// about gives a sentence of the documents in the language of the console, and which language it is in.
export function about(sentence) {
  const text = help?.[sentence]
  return { text: text ?? sentence, in: text || lang.now === 'en' ? undefined : 'en' }
}

export function keepLanguage(l) {
  localStorage.setItem(kept, l)
  return speak(l)
}

// tame takes the signs out that turn writing around: a text in the middle of ours would turn ours.
const tame = (v) => String(v).replace(/[\u202a-\u202e\u2066-\u2069]/g, '')

// t gives a text; {name} in it is replaced. A text with parts for one and many is chosen by args.n.
export function t(key, args = {}) {
  let text = words[key] ?? other[key] ?? key
  if (typeof text === 'object') text = text[new Intl.PluralRules(lang.now).select(args.n)] ?? text.other
  return text.replace(/\{(\w+)\}/g, (all, name) => (name in args ? (typeof args[name] === 'number' ? number(args[name]) : tame(args[name])) : all))
}

// languageName is what a language calls itself.
export const languageName = (l) => {
  const name = new Intl.DisplayNames(l, { type: 'language' }).of(l)
  return name[0].toLocaleUpperCase(l) + name.slice(1)
}

// has says whether there is a text, such as for an action of the platform.
export const has = (key) => key in words

// every gives what follows a beginning in the words that have it, in the order of the words.
export const every = (begin) => Object.keys(words).filter((key) => key.startsWith(begin)).map((key) => key.slice(begin.length)).sort((a, b) => t(begin + a).localeCompare(t(begin + b), lang.now))

export function settle(settings) {
  zone = settings.time_zone
  currency = settings.currency
}

// writer keeps what writes numbers or times: to make one takes longer than a row of a table does.
const writers = new Map()
const writer = (kind, language, how) => {
  const key = kind.name + language + JSON.stringify(how)
  if (!writers.has(key)) writers.set(key, new kind(language, how))
  return writers.get(key)
}

export const number = (n, digits = 0) => (n == null ? '–' : writer(Intl.NumberFormat, lang.now, { maximumFractionDigits: digits }).format(n))
// money writes a sum; digits are for what is finer than the currency's smallest coin.
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

// tick names a minute, a day or a month (seconds, its beginning) under a picture, by how many seconds lie between two of them:
// days and months are those of UTC, a minute is what a clock in the programme's zone shows.
export const tick = (at, step) =>
  step < 86400
    ? writer(Intl.DateTimeFormat, lang.now, { timeZone: zone, timeStyle: 'short' }).format(at * 1000)
    : writer(Intl.DateTimeFormat, lang.now, { timeZone: 'UTC', month: 'short', ...(step < 28 * 86400 ? { day: 'numeric' } : { year: 'numeric' }) }).format(at * 1000)
// month names a month YYYY-MM.
export const month = (text) => writer(Intl.DateTimeFormat, lang.now, { timeZone: 'UTC', month: 'short', year: 'numeric' }).format(Date.parse(text + '-01T00:00:00Z'))
export const zoneName = () => zone || Intl.DateTimeFormat().resolvedOptions().timeZone

// momentOf takes an instant or a day apart for a form: a day means its beginning in UTC, and has no time.
export function momentOf(value) {
  if (!value) return { day: '', clock: '' }
  const at = new Date(value)
  if (Number.isNaN(+at)) return { day: '', clock: '' }
  if (/^\d{4}-\d\d-\d\d(T00:00:00(\.0+)?Z)?$/.test(value)) return { day: value.slice(0, 10), clock: '' }
  const shown = wall(at)
  return { day: shown.slice(0, 10), clock: shown.slice(11, 16) }
}

// wall is what a clock in the programme's zone shows.
const wall = (at) => writer(Intl.DateTimeFormat, 'sv', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' }).format(at).replace(' ', 'T')

// instantOf is the moment at which a clock in the programme's zone shows a time of a day.
export function instantOf(day, clock) {
  const wanted = Date.parse(`${day}T${clock}:00Z`)
  let at = wanted
  for (let turn = 0; turn < 2; turn++) at -= Date.parse(wall(new Date(at)) + 'Z') - wanted
  return new Date(at).toISOString()
}

// ago is the day that it was so many days ago in the programme's zone; opensAt and closesAt are where a day of that zone begins and ends.
const dayMS = 86400000
export const ago = (days) => wall(new Date(Date.now() - days * dayMS)).slice(0, 10)
export const opensAt = (day) => instantOf(day, '00:00')
export const closesAt = (day) => opensAt(new Date(Date.parse(day) + dayMS).toISOString().slice(0, 10))

// title gives a text of the programme in the language of the console, else in any.
export const title = (texts) => (texts && typeof texts === 'object' ? texts[lang.now] || texts.en || Object.values(texts)[0] || '' : texts || '')
