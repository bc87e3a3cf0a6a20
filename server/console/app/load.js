// Reads data for a screen, and the state that it shows meanwhile.
import { useEffect, useState, useCallback } from './ui.js'
import { sight } from './api.js'

export function useLoad(read, on = []) {
  const [state, set] = useState({ loading: true })
  const [turn, again] = useState(0)
  useEffect(() => {
    let here = true
    set((s) => ({ ...s, loading: true }))
    Promise.resolve()
      .then(read)
      .then((data) => here && set({ data, loading: false }), (error) => here && set({ error, loading: false }))
    return () => {
      here = false
    }
  }, [...on, turn, sight.shown])
  return { ...state, again: useCallback(() => again((n) => n + 1), []) }
}
