// Short messages at the edge, which screen readers read out as well.
import { html, useEffect, useState } from '../ui.js'

let show = (_) => {}
export const tell = (text) => show(text)

export function Toasts() {
  const [all, set] = useState([])
  useEffect(() => {
    show = (text) => {
      const one = { text }
      set((now) => [...now, one])
      setTimeout(() => set((now) => now.filter((o) => o !== one)), 5000)
    }
  }, [])
  return html`<div class="toasts" role="status" aria-live="polite">${all.map((o) => html`<p>${o.text}</p>`)}</div>`
}
