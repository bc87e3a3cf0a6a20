// Passkeys: devices that open the console and prove the user's identity.
import { html, useEffect, useState } from '../ui.js'
import { t, time } from '../words.js'
import { own, proved, me, hooks, fact } from '../api.js'
import { make, passkeysHere } from './device.js'
import { sure } from './dialog.js'
import { tell } from './toast.js'

export function Passkeys() {
  const [rows, set] = useState(null)
  const [wrong, fail] = useState('')
  const [busy, work] = useState(false)
  const look = () => own('passkey/list').then((a) => (set(a.data), (me.now.passkeys = a.data.length), hooks.changed()), (e) => fail(e.message))
  useEffect(() => void look(), [])
  const attempt = async (deed, said) => {
    work(true)
    try {
      if ((await deed()) === false) return
      fail('')
      tell(said)
      await look()
    } catch (e) {
      fail(e.message)
    } finally {
      work(false)
    }
  }
  const add = (e) => {
    e.preventDefault()
    const form = e.target
    attempt(() => make(form.elements.name.value).then(() => form.reset()), t('saved'))
  }
  const remove = (k) => attempt(async () => (await sure(t('passkey.remove'), t('passkey.remove.text', { name: k.name }), true)) && proved('passkey/remove', { id: k.id }).then(() => true), t('saved'))
  return html`<section class="panel"><h2>${t('passkeys')}</h2>
    <p>${me.now.outside && !me.now.password ? t('passkey.outside') : t('passkey.what')}</p>
    ${rows?.length > 0 && html`<ul class="tree">${rows.map((k) => html`<li class="event"><strong>${k.name}</strong><span class="small">${t('passkey.made', { at: time(k.created_at) })}${k.used_at ? ' · ' + t('passkey.used', { at: time(k.used_at) }) : ''}</span>
      <button class="tiny" disabled=${busy} onClick=${() => remove(k)}>${t('passkey.remove')}</button></li>`)}</ul>`}
    ${passkeysHere()
      ? html`<form class="filters" onSubmit=${add}><label>${t('passkey.name')}<input name="name" maxlength="64" required placeholder=${t('passkey.example')} /></label><button class="primary" disabled=${busy}>${t('passkey.add')}</button></form>`
      : html`<p class="small">${t('passkey.place', { host: fact('passkeys') || 'LOYALTY_CONSOLE_URL' })}</p>`}
    ${wrong && html`<p class="wrong" role="alert">${wrong}</p>`}
  </section>`
}
