// The choices of a field that refers to something else: entities of the programme, or actions.
import { useEffect, useState } from '../ui.js'
import { t, has, title } from '../words.js'
import { get, can, documentOf } from '../api.js'
import { kindsOn } from '../part/modules.js'
import { isAction, kindOf } from './labels.js'
import { bodyOf, variants } from './schema.js'

// choicesOf reads the choices of such a field.
const kept = new Map()
export const forgetChoices = () => kept.clear()
export async function choicesOf(name) {
  const kind = isAction(name) ? 'actions' : kindOf(name)
  if (!kept.has(kind)) kept.set(kind, readChoices(kind).catch(() => []))
  return kept.get(kind)
}

async function readChoices(kind) {
  if (kind === 'actions') {
    const doc = await documentOf('events')
    return Object.keys(variants(doc, bodyOf(doc, '/events').schema)).sort().map((id) => ({ id, name: has('action.' + id) ? t('action.' + id) : '' }))
  }
  if (!can('listEntities') || !(await kindsOn([kind])).length) return []
  return (await get('/entities/' + kind, { limit: 100 })).data.map((e) => ({ id: e.id, name: title(e.title || e.name) }))
}

export function useChoices(name) {
  const [all, set] = useState([])
  useEffect(() => {
    let here = true
    choicesOf(name).then((found) => here && set(found))
    return () => {
      here = false
    }
  }, [name])
  return all
}
