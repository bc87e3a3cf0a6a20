// An unknown place.
import { html } from '../ui.js'
import { t } from '../words.js'
import { Empty, Title } from '../part/state.js'

export default () => html`<${Title} text=${t('nothing.title')} /><${Empty} text=${t('nothing.text')}><a href="#/">${t('nav.today')}</a></${Empty}>`
