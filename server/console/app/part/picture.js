// A picture on another host: shown if the server allows the host, else a link to it.
import { html, useState } from '../ui.js'
import { t } from '../words.js'
import { fact } from '../api.js'
import { Icon } from './icon.js'

// shown says whether the policy of the page allows a picture.
function shown(at) {
  return fact('images').split(' ').some((host) => host && (host.startsWith('*.') ? at.host.endsWith(host.slice(1)) : at.host === host))
}

export function Picture({ from, name }) {
  const [gone, lose] = useState(false)
  const first = from?.small || from?.medium || from?.large
  if (!first || !URL.canParse(first)) return null
  const at = new URL(first)
  if (at.protocol !== 'https:') return null
  if (shown(at) && !gone) return html`<img class="picture" src=${at.href} alt=${name} loading="lazy" referrerpolicy="no-referrer" onError=${() => lose(true)} />`
  return html`<a class="picture none" href=${at.href} target="_blank" rel="noopener noreferrer" title=${at.host} aria-label=${t('picture.open', { name, host: at.host })}><${Icon} name="rewards" /></a>`
}
