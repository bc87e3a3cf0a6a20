// What a screen shows before it has data, and when it gets none.
import { html, useEffect, useState } from '../ui.js'
import { t } from '../words.js'
import { can } from '../api.js'
import { tell } from './toast.js'

export const Loading = () => html`<p class="loading" role="status">${t('loading')}</p>`

const moduleOff = 160600

// useWait counts down the seconds that the server asks to wait.
export function useWait(error) {
  const asked = error?.wait || 0
  const [seen, see] = useState({ error, left: asked })
  useEffect(() => {
    if (!asked) return
    const until = Date.now() + asked * 1000
    const tick = setInterval(() => {
      const left = Math.max(0, Math.ceil((until - Date.now()) / 1000))
      see({ error, left })
      if (!left) clearInterval(tick)
    }, 500)
    return () => clearInterval(tick)
  }, [error])
  return seen.error === error ? seen.left : asked
}

// Wait shows the countdown; a screen reader reads it once and not each second.
export const Wait = ({ error, left }) => error?.wait > 0 && html`<p class="small wait"><span aria-hidden="true">${left > 0 ? t('error.wait', { n: left }) : t('error.now')}</span><span class="hidden">${left > 0 ? t('error.wait', { n: error.wait }) : t('error.now')}</span></p>`

// support is what the support wants to know of a failure, as lines to paste into an e-mail.
const support = (e) => [e.message, ...e.details.map((d) => `${d.field}: ${d.message}`), `status ${e.status}, code ${e.code}, request ${e.request}`, `${location.origin} ${location.hash.split('?')[0]} ${new Date().toISOString()}`].join('\n')

export function Failure({ error, again }) {
  const left = useWait(error)
  const details = (error.details || []).filter((d) => d.message !== error.message) // shown above already
  return html`<div class="failure" role="alert">
    <p><strong>${error.message}</strong></p>
    ${details.length > 0 && html`<ul>${details.map((d) => html`<li><code>${d.field}</code> ${d.message}</li>`)}</ul>`}
    ${error.code && html`<p class="small">${t('error.code')} <a href=${'/docs/errors/' + error.code} target="_blank" rel="noopener">${error.code}</a>${error.request && html` · ${t('error.request')} <code>${error.request}</code> <button type="button" class="tiny" onClick=${() => navigator.clipboard?.writeText(support(error)).then(() => tell(t('copied')))}>${t('error.copy')}</button>`}</p>`}
    <${Wait} error=${error} left=${left} />
    ${error.code === moduleOff && can('configureModule') && html`<p><a class="button" href="#/administration?tab=modules">${t('modules.open')}</a></p>`}
    ${again && html`<button disabled=${left > 0} onClick=${again}>${t('again')}</button>`}
  </div>`
}

export const Empty = ({ text, children }) => html`<div class="empty"><p>${text}</p>${children}</div>`

// Loaded shows what was read, or why it could not be read. title is for a whole screen, so that a failed one has a
// heading as well.
export function Loaded({ of, title, children }) {
  if (of.error) return html`${title && html`<${Title} text=${title} />`}<${Failure} error=${of.error} again=${of.again} />`
  if (!of.data) return html`<${Loading} />`
  return children(of.data)
}

export const Title = ({ text, children }) => html`<div class="title"><h1>${text}</h1><div class="actions">${children}</div></div>`

// Id is an id that can be copied.
export function Id({ value }) {
  return html`<button type="button" class="id" title=${t('copy')} onClick=${(e) => (e.stopPropagation(), navigator.clipboard?.writeText(value).then(() => tell(t('copied'))))}>${value}</button>`
}
