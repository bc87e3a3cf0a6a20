// Checks an entity while it is written, with a plan of the configuration, which runs the real checks and changes
// nothing.
import { useEffect, useState } from '../ui.js'
import { ask, can } from '../api.js'
import { clean } from './schema.js'

const rest = 600 // ms without a change

// useCheck returns the faults of what is filled in; a property that is still missing is no fault yet.
export function useCheck(kind, name = 'being-written', value, on) {
  const [faults, set] = useState([])
  const text = JSON.stringify(clean(value) || {})
  useEffect(() => {
    if (!on || !can('applyConfiguration')) return set([])
    let here = true
    const late = setTimeout(async () => {
      const found = await faultsOf(kind, name, JSON.parse(text))
      if (here) set(found)
    }, rest)
    return () => {
      here = false
      clearTimeout(late)
    }
  }, [kind, name, text, on])
  return faults
}

// least makes the smallest entity around a condition, so that the condition is checked while the rest is missing.
const least = {
  'automation/campaign': (v) => ({ name: '-', trigger: v.trigger || 'checkout', condition: v.condition, effects: [{ type: 'points', points: 1 }] }),
  'segments/segment': (v) => ({ name: '-', condition: v.condition }),
}

async function faultsOf(kind, name, written) {
  const found = await planned(kind, name, written)
  if (!written.condition || !least[kind] || found.some((f) => f.field === 'condition')) return found
  return [...found, ...(await planned(kind, name, least[kind](written)))]
}

// planned returns the faults of what is filled in.
async function planned(kind, name, written) {
  try {
    await ask('/admin/configuration', { mode: 'plan', configuration: { entities: { [kind]: { [name]: written } } } }, true)
    return []
  } catch (refused) {
    const before = `configuration.entities["${kind}"].${name}.`
    return refused.details.filter((d) => d.field.startsWith(before)).map((d) => ({ ...d, field: d.field.slice(before.length) })).filter((d) => at(written, d.field) !== undefined)
  }
}

const at = (value, path) => path.split(/[.[\]]+/).filter(Boolean).reduce((v, part) => v?.[part], value)
