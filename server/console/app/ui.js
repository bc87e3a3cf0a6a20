// What every file of the console draws with.
import { h } from './vendor/preact.js'
import htm from './vendor/htm.js'

export const html = htm.bind(h)
export { h, render, Fragment } from './vendor/preact.js'
export { useState, useEffect, useMemo, useRef, useCallback, useReducer } from './vendor/hooks.js'
