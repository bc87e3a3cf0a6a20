// The only way to the server. The console calls the operations of the contract, as any client does.
import { lang, t, teach } from './words.js'

const base = '/console/api'
const subscribers = new Set()

// calls are those of the screen that is open, for the drawer "as a request".
export const calls = []
export const onCall = (f) => (subscribers.add(f), () => subscribers.delete(f))
export function forgetCalls() {
  calls.length = 0
  subscribers.forEach((f) => f())
}

// Refused is an answer that says no, or that none came.
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

// hooks are what main.js does about a session that is over, a proof that is asked for, and the user's own having changed.
export const hooks = { signedOut: () => {}, confirm: async () => false, changed: () => {} }

// sight is whether personal data is shown on the screen that is open, and whether there is any that is not. Showing it leaves a
// line in the audit trail for each answer; the next screen begins masked again.
export const maskedText = '•••'
export const sight = { at: '', shown: false, masked: false, changed: () => {} }
function see(shown, masked) {
  if (sight.shown === shown && sight.masked === masked) return
  Object.assign(sight, { shown, masked })
  sight.changed()
}
export const showPersonal = (on) => see(on, on || sight.masked)
// beginAt masks again where another screen is opened.
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

// read is get. A server that is busy is asked again by itself, and so is what wants a proof of who the user is, after it.
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

// unsettled are changes whose outcome is not known: those under way, and those of which no answer came.
const unsettled = new Map()

// change is post. Each press is a deed with a key of its own. A second click on what is under way is the same request, and the
// same request after a line was cut has the key of the first, which may have been done.
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

// commit sends a change; where a proof of who the user is was asked for, it is sent again after it.
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

// ponder is ask, a POST that changes nothing: a preview or a plan. What runs while one types is quiet: it is no call to learn from.
async function ponder(path, body, quiet = false) {
  if (!quiet) note('POST', path, body)
  return send('POST', base + path, body)
}

// Their paths, parameters, bodies and answers are the documents'.
/** @type {import('../types/contract').Get} */
export const get = /** @type {any} */ (read)
/** @type {import('../types/contract').Post} */
export const post = /** @type {any} */ (change)
/** @type {import('../types/contract').Ask} */
export const ask = /** @type {any} */ (ponder)

// fact is what the page knows before anyone has signed in; own calls an endpoint of the console itself: signing in and out.
export const fact = (name) => document.querySelector(`meta[name="${name}"]`)?.getAttribute('content') || ''
export const own = (path, body) => send('POST', '/console/' + path, body)

// proved is own for what needs a fresh proof of who the user is.
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

// me is who is signed in; can says whether an operation is open to them.
export const me = { now: null }
export const can = (operation) => Boolean(me.now?.operations.includes(operation))

// documents are the API's own documents, each read once.
const documents = {}
export async function documentOf(api) {
  const [doc] = await Promise.all([(documents[api] ??= fetch(`/openapi/${api}.json`).then((r) => r.json())), teach()])
  return doc
}
