// Dialogs: a question before a change, and the proof of identity.
import { html, useEffect, useRef, useState } from '../ui.js'
import { t } from '../words.js'
import { get, own, me, fact } from '../api.js'
import { passkeysHere, sign } from './device.js'

let open = (_) => {}
export const openDialog = (d) => new Promise((answered) => open({ ...d, answered }))

// sure asks before a change; danger colours it.
export const sure = (title, text, danger) => openDialog({ title, text, danger, yes: t('do'), no: t('cancel') })

// askConfirm asks for a proof of identity, and says whether it was right.
export const askConfirm = () => openDialog({ title: t('confirm.title'), proof: true, yes: t('confirm.do'), no: t('cancel') })

export function Dialogs() {
  const [now, set] = useState(null)
  const box = useRef()
  const before = useRef()
  useEffect(() => {
    open = (d) => {
      before.current = document.activeElement
      set(d)
    }
  }, [])
  useEffect(() => {
    if (now) box.current?.showModal()
  }, [now])
  if (!now) return null
  const close = (answer) => {
    box.current?.close()
    set(null)
    before.current?.focus?.()
    now.answered(answer)
  }
  return html`<dialog ref=${box} onCancel=${(e) => (e.preventDefault(), close(false))} aria-labelledby="dialog-title">
    <h2 id="dialog-title">${now.title}</h2>
    ${now.text && html`<p class="lines">${now.text}</p>`}
    ${now.content}
    ${now.proof
      ? html`<${Proof} done=${close} />`
      : html`<div class="actions">
          ${now.no && html`<button type="button" onClick=${() => close(false)}>${now.no}</button>`}
          <button type="button" class=${now.danger ? 'danger' : 'primary'} onClick=${() => close(true)}>${now.yes || t('close')}</button>
        </div>`}
  </dialog>`
}

function Proof({ done }) {
  const [error, fail] = useState('')
  const send = async (e) => {
    e.preventDefault()
    const f = e.target.elements
    try {
      // A user who proves it to the provider does so on another page.
      const there = me.now?.outside && !f.password?.value && !f.code?.value
      if (there) {
        if (!(await get('/admin/me')).data.confirmed_until) throw new Error(t('confirm.first'))
      } else await own('session/confirm', { password: f.password?.value || '', code: f.code?.value || '' })
      done(true)
    } catch (refused) {
      fail(refused.message)
    }
  }
  const byPasskey = () => sign('passkey/confirm').then(() => done(true), (refused) => fail(refused.message))
  const keyed = me.now?.passkeys > 0 && passkeysHere()
  return html`<form onSubmit=${send}>
    <p>${t('confirm.text')}</p>
    ${keyed && html`<p><button type="button" class=${me.now.password ? '' : 'primary'} onClick=${byPasskey}>${t('confirm.passkey')}</button></p>`}
    ${!me.now?.password && !me.now?.second_factor && !keyed && !me.now?.outside && html`<p class="notice">${t('confirm.none')} <code>loyalty users invite ${me.now?.login}</code></p>`}
    ${me.now?.password && html`<label>${t('sign.password')}<input name="password" type="password" autocomplete="current-password" /></label>`}
    ${me.now?.second_factor && html`<label>${t('sign.code')}<input name="code" inputmode="numeric" autocomplete="one-time-code" /></label>`}
    ${me.now?.outside && fact('outside') && html`<p><a class="button" href="/console/oidc/start?for=confirm" target="_blank" rel="noopener">${t('confirm.outside', { name: fact('outside') })}</a></p>`}
    ${error && html`<p class="wrong" role="alert">${error}</p>`}
    <div class="actions"><button type="button" onClick=${() => done(false)}>${t('cancel')}</button><button class="primary">${t('confirm.do')}</button></div>
  </form>`
}
