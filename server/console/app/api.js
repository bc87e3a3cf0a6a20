// The only way to the server. The console calls the operations of the contract, as any client does.
import { lang, t, teach } from './words.js'

const base = '/console/api'
const subscribers = new Set()

// calls are the requests of the open screen, for the drawer "as a request".
export const calls = []
export const onCall = (f) => (subscribers.add(f), () => subscribers.delete(f))
export function forgetCalls() {
  calls.length = 0
  subscribers.forEach((f) => f())
}

// Refused is an answer that refuses, or a request without an answer.
export class Refused extends Error {
  constructor(status, body, headers) {
    super(body?.error?.message || t('error.lost'))
    this.status = status
    this.code = body?.error?.code
    this.details = body?.error?.details || []
    this.request = headers?.get('X-Request-Id') || ''
    this.wait = Number(headers?.get('Retry-After') || 0)
  }
}

// hooks are set by main.js: for a session that has ended, for a proof of identity that the server asks for, and for
// changes of the user's own record.
export const hooks = { signedOut: () => {}, confirm: async () => false, changed: () => {} }

// sight says whether the open screen shows personal data, and whether some of it is masked. Each answer that shows
// personal data adds a line to the audit trail; the next screen is masked again.
export const maskedText = '•••'
export const sight = { at: '', shown: false, masked: false, changed: () => {} }
function see(shown, masked) {
  if (sight.shown === shown && sight.masked === masked) return
  Object.assign(sight, { shown, masked })
  sight.changed()
}
export const showPersonal = (on) => see(on, on || sight.masked)
// beginAt masks again when another screen is opened.
export function beginAt(path) {
  if (sight.at !== path) Object.assign(sight, { at: path, shown: false, masked: false })
}

const proofNeeded = 190641
const pause = (ms) => new Promise((done) => setTimeout(done, ms))

async function send(method, target, body, own = {}) {
  const headers = { 'Accept-Language': lang.now, ...own }
  if (method === 'POST') headers['Content-Type'] = 'application/json'
  if (sight.shown) headers['X-Personal-Data'] = 'show'
  let answer
  try {
    answer = await fetch(target, { method, headers, body: method === 'POST' ? JSON.stringify(body ?? {}) : undefined, credentials: 'same-origin' })
  } catch {
    window.dispatchEvent(new CustomEvent('lost'))
    throw new Refused(0, null, null)
  }
  window.dispatchEvent(new CustomEvent('found'))
  const text = await answer.text()
  if (text.includes(maskedText)) see(sight.shown, true)
  let value = null
  try {
    value = text ? JSON.parse(text) : null
  } catch {
    value = text
  }
  if (answer.ok) return value
  throw new Refused(answer.status, value, answer.headers)
}

export function query(params = {}) {
  const q = new URLSearchParams()
  for (const [name, value] of Object.entries(params)) if (value !== undefined && value !== null && value !== '') q.append(name, value)
  const text = q.toString()
  return text ? '?' + text : ''
}

// read is get. It repeats a request when the server is busy, and after a proof of identity that the server asked for.
async function read(path, params) {
  const target = path + query(params)
  note('GET', target)
  let asked = false
  for (let turn = 0; ; turn++) {
    try {
      return await send('GET', base + target)
    } catch (e) {
      if (e.status === 401) hooks.signedOut()
      if (e.code === proofNeeded && !asked && (asked = true) && (await hooks.confirm())) continue
      if (e.status !== 503 || turn > 2) throw e
      await pause(700 * (turn + 1))
    }
  }
}

// unsettled are changes with an unknown outcome: those under way, and those without an answer.
const unsettled = new Map()

// change is post. Each press has a key of its own. A second click while the first is under way is the same request, and
// a repeat after a lost connection has the first one's key, because the first may have been carried out.
function change(path, body) {
  note('POST', path, body)
  const said = path + ' ' + JSON.stringify(body ?? {})
  const deed = unsettled.get(said) ?? { key: crypto.randomUUID() }
  unsettled.set(said, deed)
  deed.answer ??= settle(said, deed, () => commit(path, body, deed.key))
  return deed.answer
}

async function settle(said, deed, act) {
  try {
    const answer = await act()
    unsettled.delete(said)
    return answer
  } catch (e) {
    if (e.status >= 400 && e.status < 500) unsettled.delete(said)
    throw e
  } finally {
    deed.answer = null
  }
}

// commit sends a change, and sends it again after a proof of identity that the server asked for.
async function commit(path, body, key) {
  const own = { 'Idempotency-Key': key }
  try {
    return await send('POST', base + path, body, own)
  } catch (e) {
    if (e.status === 401) hooks.signedOut()
    if (e.code === proofNeeded && (await hooks.confirm())) return send('POST', base + path, body, own)
    throw e
  }
}

// ponder is ask, a POST that changes nothing: a preview or a plan. Requests sent while the user types are quiet: the
// drawer does not list them.
async function ponder(path, body, quiet = false) {
  if (!quiet) note('POST', path, body)
  return send('POST', base + path, body)
}

// The documents define their paths, parameters, bodies and answers.
/** @type {import('../types/contract').Get} */
export const get = /** @type {any} */ (read)
/** @type {import('../types/contract').Post} */
export const post = /** @type {any} */ (change)
/** @type {import('../types/contract').Ask} */
export const ask = /** @type {any} */ (ponder)

// fact is what the page knows before a user has signed in; own calls an endpoint of the console itself: signing in and
// out.
export const fact = (name) => document.querySelector(`meta[name="${name}"]`)?.getAttribute('content') || ''
export const own = (path, body) => send('POST', '/console/' + path, body)

// proved is own for endpoints that need a fresh proof of identity.
export async function proved(path, body) {
  try {
    return await own(path, body)
  } catch (e) {
    if (e.code === proofNeeded && (await hooks.confirm())) return own(path, body)
    throw e
  }
}

function note(method, target, body) {
  if (calls.some((c) => c.method === method && c.target === target && JSON.stringify(c.body) === JSON.stringify(body))) return
  calls.push({ method, target, body })
  if (calls.length > 30) calls.shift()
  subscribers.forEach((f) => f())
}

export const id = encodeURIComponent

// me is the signed-in user; can says whether the user may call an operation.
export const me = { now: null }
export const can = (operation) => Boolean(me.now?.operations.includes(operation))

// documents are the API's documents, each read once.
const documents = {}
export async function documentOf(api) {
  const [doc] = await Promise.all([(documents[api] ??= fetch(`/openapi/${api}.json`).then((r) => r.json())), teach()])
  return doc
}
