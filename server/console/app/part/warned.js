// What the server warns of in something that it has saved all the same, such as a condition on money of no particular currency.
import { html } from '../ui.js'
import { t } from '../words.js'
import { openDialog } from './dialog.js'

export const Warned = ({ of }) => of?.length > 0 && html`<ul class="notice" role="alert">${of.map((w) => html`<li><code>${w.field}</code> ${w.message}</li>`)}</ul>`

// heed shows the warnings of an answer, and ends once they were read.
export const heed = (answer) => answer?.warnings?.length > 0 && openDialog({ title: t('import.plan.warnings'), content: html`<${Warned} of=${answer.warnings} />`, yes: t('close') })
