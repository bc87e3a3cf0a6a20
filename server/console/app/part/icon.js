// The signs of the menu: one line each, in a field of 24 by 24.
import { html } from '../ui.js'

const lines = {
  brand: 'M12 3l2.6 5.6 6 .8-4.4 4.2 1.1 6L12 16.700l-5.3 2.9 1.1-6L3.4 9.400l6-.8z',
  today: 'M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-4H4zM14 8h6V4h-6z',
  customers: 'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20c.5-4 3-6 6.5-6s6 2 6.5 6M16 4.500a3.5 3.5 0 0 1 0 6.500M18 14.500c2 .8 3.2 2.7 3.5 5.5',
  stream: 'M3 12h4l3-8 4 16 3-8h4',
  tester: 'M9 3h6M10 3v6l-5 9a2 2 0 0 0 2 3h10a2 2 0 0 0 2-3l-5-9V3M7.5 15h9',
  programme: 'M4 5h16M4 12h16M4 19h10',
  campaigns: 'M4 10v4h3l8 5V5l-8 5zM18.5 9a4 4 0 0 1 0 6',
  rewards: 'M4 11h16v9H4zM3 7h18v4H3zM12 7v13M12 7c-2 0-5-.5-5-2.500S10 2 12 7zM12 7c2 0 5-.5 5-2.500S14 2 12 7z',
  levels: 'M4 20v-5h5v5M9.5 20V10h5v10M15 20V5h5v15',
  statistics: 'M4 4v16h16M8 15l4-5 3 3 5-7',
  ledger: 'M6 3h12a1 1 0 0 1 1 1v17l-3-2-2 2-2-2-2 2-2-2-3 2V4a1 1 0 0 1 1-1zM9 8h6M9 12h6',
  webhooks: 'M12 9a3 3 0 1 0-2.6-1.500L6.5 14M12 9l3.5 6.500M6 20a3 3 0 0 0 3-3h7M18 20a3 3 0 1 0-2.6-4.500M6 14a3 3 0 1 0 0 6',
  configuration: 'M4 7h9M17 7h3M4 17h3M11 17h9M15 4.500v5M9 14.500v5',
  administration: 'M12 3l7 3v5c0 5-3 8.5-7 10-4-1.5-7-5-7-10V6zM9 12l2 2 4-4',
}

export const Icon = ({ name, size = 18 }) => html`<svg width=${size} height=${size} viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d=${lines[name] || ''} /></svg>`
