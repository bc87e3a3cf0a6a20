// The console's address: #/path?query. The query holds filters, so that a view can be shared and the back button works.
import { useEffect, useState } from './ui.js'

export function place() {
  const [path, search = ''] = location.hash.replace(/^#/, '').split('?')
  return { path: path || '/', parts: path.split('/').filter(Boolean).map(decodeURIComponent), query: Object.fromEntries(new URLSearchParams(search)) }
}

// guard is asked before a place is left; a form with unsaved changes sets it.
export const guard = { ask: null }
let current = location.hash

export function usePlace() {
  const [at, set] = useState(place())
  useEffect(() => {
    const moved = () => {
      if (location.hash === current) return
      if (guard.ask && !window.confirm(guard.ask())) {
        history.replaceState(null, '', current || '#/')
        return
      }
      guard.ask = null
      current = location.hash
      set(place())
    }
    window.addEventListener('hashchange', moved)
    return () => window.removeEventListener('hashchange', moved)
  }, [])
  return at
}

export const go = (path) => {
  location.hash = '#' + path
}

// filter changes the query of this place; empty values are left out.
export function filter(changes) {
  const { path, query } = place()
  const q = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...query, cursor: '', offset: '', ...changes })) if (value) q.set(name, value)
  const text = q.toString()
  location.hash = '#' + path + (text ? '?' + text : '')
}
