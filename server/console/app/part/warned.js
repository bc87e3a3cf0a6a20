// The server's warnings about something that it saved nevertheless, such as a condition on money without a currency.
import { html } from '../ui.js'
import { t } from '../words.js'
import { openDialog } from './dialog.js'

export const Warned = ({ of }) => of?.length > 0 && html`<ul class="notice" role="alert">${of.map((w) => html`<li><code>${w.field}</code> ${w.message}</li>`)}</ul>`

// heed shows the warnings of an answer until they are confirmed.
export const heed = (answer) => answer?.warnings?.length > 0 && openDialog({ title: t('import.plan.warnings'), content: html`<${Warned} of=${answer.warnings} />`, yes: t('close') })
