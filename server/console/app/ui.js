// What every file of the console draws with.
import { h as element } from './vendor/preact.js'
import { useLayoutEffect, useRef } from './vendor/hooks.js'
import htm from './vendor/htm.js'

// A field without a listener belongs to the user who types in it: its value is only the initial one, and is set again
// when that changes. The screen around it may be redrawn meanwhile, for example when a read ends.
const began = ['input', 'select', 'textarea']
const chosen = ['checkbox', 'radio', 'hidden']

function Began({ of, value, children, ...rest }) {
  const field = useRef(null)
  useLayoutEffect(() => {
    field.current.value = value ?? ''
  }, [value])
  return element(of, { ...rest, ref: field }, children)
}

export function h(type, props, ...children) {
  if (!began.includes(type) || props?.value === undefined || props.onInput || props.onChange || props.ref || chosen.includes(props.type)) return element(type, props, ...children)
  return element(Began, { key: props.name, ...props, of: type }, ...children)
}

export const html = htm.bind(h)
export { render, Fragment } from './vendor/preact.js'
export { useState, useEffect, useMemo, useRef, useCallback, useReducer } from './vendor/hooks.js'
