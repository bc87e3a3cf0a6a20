// How long something lasts at its recent rate.
import { html } from '../ui.js'
import { t } from '../words.js'

const far = 366 // days: what lasts longer needs no attention yet

// Lasts computes it from what is left and how many went within some days, or since it exists if that is shorter.
export function Lasts({ left, went, within, since }) {
  const age = since ? (Date.now() - Date.parse(since)) / 86400000 : within
  const days = left > 0 && went > 0 ? Math.round((left * Math.max(1, Math.min(within, age))) / went) : null
  return days === null ? null : html`<div class="small lasts">${days > far ? t('reward.lasts.long') : t('reward.lasts', { n: days })}</div>`
}
