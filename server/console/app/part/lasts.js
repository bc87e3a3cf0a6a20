// How long something lasts if it goes on as it did of late.
import { html } from '../ui.js'
import { t } from '../words.js'

const far = 366 // days: what lasts longer need not be thought of yet

// Lasts tells it of what is left, of which so many went within so many days; a thing that is younger had only its own days.
export function Lasts({ left, went, within, since }) {
  const age = since ? (Date.now() - Date.parse(since)) / 86400000 : within
  const days = left > 0 && went > 0 ? Math.round((left * Math.max(1, Math.min(within, age))) / went) : null
  return days === null ? null : html`<div class="small lasts">${days > far ? t('reward.lasts.long') : t('reward.lasts', { n: days })}</div>`
}
