// Sign in: login and password, then a code if the user has a second factor; or the provider of the company.
import { html, useState } from '../ui.js'
import { t, lang, keepLanguage, languageName } from '../words.js'
import { own, hooks, fact } from '../api.js'
import { passkeysHere, sign } from '../part/device.js'
import { Icon } from '../part/icon.js'
import { Wait, useWait } from '../part/state.js'

export function SignIn({ done }) {
  const [asked, askCode] = useState(false)
  const [error, fail] = useState(hooks.linkOver ? { message: hooks.linkOver } : null)
  const left = useWait(error)
  const [busy, work] = useState(false)
  const [, again] = useState(0)
  const send = async (e) => {
    e.preventDefault()
    const f = e.target.elements
    work(true)
    try {
      await own('session', { login: f.login.value, password: f.password.value, code: f.code?.value || '' })
      hooks.linkOver = ''
      await done()
    } catch (refused) {
      if (refused.code === 190662) askCode(true)
      fail(refused.code === 190662 && !asked ? null : refused)
      work(false)
    }
  }
  const byPasskey = async () => {
    work(true)
    try {
      await sign('passkey/enter')
      hooks.linkOver = ''
      await done()
    } catch (refused) {
      fail(refused)
      work(false)
    }
  }
  return html`<main class="sign">
    <h1><${Icon} name="brand" size="26" /> Loyalty</h1>
    <form onSubmit=${send}>
      <label>${t('sign.login')}<input name="login" autocomplete="username" required autofocus /></label>
      <label>${t('sign.password')}<input name="password" type="password" autocomplete="current-password" required /></label>
      ${asked && html`<label>${t('sign.code')}<input name="code" inputmode="numeric" autocomplete="one-time-code" required ref=${(n) => n?.focus()} /></label>`}
      ${error && html`<div role="alert"><p class="wrong">${error.message}</p><${Wait} error=${error} left=${left} /></div>`}
      <button class="primary" disabled=${busy || left > 0}>${t('sign.in')}</button>
    </form>
    ${passkeysHere() && html`<p><button disabled=${busy} onClick=${byPasskey}>${t('sign.passkey')}</button></p>`}
    ${fact('outside') && html`<p><a class="button" href="/console/oidc/start">${t('sign.outside', { name: fact('outside') })}</a></p>`}
    ${hooks.elsewhere && html`<p class="small"><a href=${hooks.elsewhere}>${t('sign.elsewhere', { name: fact('outside') })}</a></p>`}
    <p class="small">${t('sign.help')} <code>loyalty users create --role owner NAME</code></p>
    <select aria-label=${t('language')} value=${lang.now} onChange=${(e) => keepLanguage(e.target.value).then(() => again((n) => n + 1))}>${lang.all.map((l) => html`<option value=${l}>${languageName(l)}</option>`)}</select>
  </main>`
}
