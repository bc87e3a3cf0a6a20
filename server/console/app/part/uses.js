// Where an entity is used: entities that refer to it, and conditions that mention it.
import { html, useState } from '../ui.js'
import { t, has, title } from '../words.js'
import { get, id } from '../api.js'
import { kindOf } from '../form/labels.js'
import { Failure, Loading } from './state.js'

// names says whether a value, at any depth, refers to an entity.
function names(value, kind, wanted, property = '') {
  if (Array.isArray(value)) return value.some((v) => names(v, kind, wanted, property))
  if (value && typeof value === 'object') return Object.entries(value).some(([p, v]) => names(v, kind, wanted, p))
  if (typeof value !== 'string') return false
  return (kindOf(property) === kind && value === wanted) || (property === 'condition' && (value.includes(`"${wanted}"`) || value.includes(`'${wanted}'`)))
}

export function usesOf(entities, kind, wanted) {
  return Object.entries(entities).flatMap(([type, all]) => Object.entries(all).filter(([name, e]) => !(type === kind && name === wanted) && names(e, kind, wanted)).map(([name, e]) => ({ type, name, title: title(e.title || e.name) || name })))
}

export function Uses({ kind, name }) {
  const [state, set] = useState({})
  const look = async () => {
    set({ loading: true })
    try {
      set({ found: usesOf((await get('/admin/configuration')).data.entities, kind, name) })
    } catch (error) {
      set({ error })
    }
  }
  return html`<h2>${t('uses.title')}</h2>${state.loading && html`<${Loading} />`}${state.error && html`<${Failure} error=${state.error} again=${look} />`}
    ${!state.found && !state.loading && html`<button onClick=${look}>${t('uses.look')}</button>`}
    ${state.found && html`<div role="status">${state.found.length === 0 && html`<p>${t('uses.none')}</p>`}<ul>${state.found.map((u) => html`<li><a href=${`#/entity/${u.type}/${id(u.name)}`}>${u.title}</a> <span class="small">${has('type.' + u.type) ? t('type.' + u.type) : u.type}</span></li>`)}</ul></div>`}`
}
