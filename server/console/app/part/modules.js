// Which modules are on: what belongs to one that is off answers 404, and is not asked for where it is only a part of what is shown.
import { get, can, documentOf } from '../api.js'

// modulesOn gives what says whether a module is on; where nobody may know, all are taken to be.
export async function modulesOn() {
  if (!can('listModules')) return () => true
  const { data } = await get('/admin/modules', { limit: 100 })
  return (/** @type {string} */ name) => !name || data.some((m) => m.name === name && m.enabled)
}

// kindsOn are those of some kinds of entities whose module is on.
export async function kindsOn(kinds) {
  const [doc, on] = await Promise.all([documentOf('entities'), modulesOn()])
  return kinds.filter((kind) => on(doc.components.schemas[doc['x-entities'][kind]]?.['x-module']))
}
