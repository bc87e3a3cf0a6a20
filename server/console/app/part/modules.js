// Which modules are on. What belongs to a module that is off answers 404, so a screen does not ask for it as a part of
// something else.
import { get, can, documentOf } from '../api.js'

// modulesOn returns a function that says whether a module is on. If the user may not know, all count as on.
export async function modulesOn() {
  if (!can('listModules')) return () => true
  const { data } = await get('/admin/modules', { limit: 100 })
  return (/** @type {string} */ name) => !name || data.some((m) => m.name === name && m.enabled)
}

// kindsOn selects the kinds of entities whose module is on.
export async function kindsOn(kinds) {
  const [doc, on] = await Promise.all([documentOf('entities'), modulesOn()])
  return kinds.filter((kind) => on(doc.components.schemas[doc['x-entities'][kind]]?.['x-module']))
}
