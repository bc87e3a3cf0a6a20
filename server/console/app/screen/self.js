// The user's own password, second factor and passkeys.
import { html, useState } from '../ui.js'
import { t } from '../words.js'
import { own, proved, me, hooks, fact } from '../api.js'
import { Title } from '../part/state.js'
import { tell } from '../part/toast.js'
import { Passkeys } from '../part/passkeys.js'

export default function Self() {
  const [wrong, fail] = useState({})
  const [factor, setFactor] = useState(null)
  const [codes, setCodes] = useState(null)
  const password = async (e) => {
    e.preventDefault()
    const form = e.target
    try {
      await proved('self/password', { password: form.elements.password.value })
      me.now.password = true
      hooks.changed()
      form.reset()
      fail({})
      tell(t('saved'))
    } catch (error) {
      fail({ password: error.message })
    }
  }
  const link = async () => {
    if (me.now.confirmed_until > new Date().toISOString() || (await hooks.confirm())) location.assign('/console/oidc/start?for=link')
  }
  const begin = async () => {
    try {
      setFactor(await proved('self/totp', {}))
      fail({})
    } catch (error) {
      fail({ factor: error.message })
    }
  }
  const finish = async (e) => {
    e.preventDefault()
    try {
      setCodes((await proved('self/totp', { secret: factor.secret, code: e.target.elements.code.value })).recovery)
      me.now.second_factor = true
      setFactor(null)
    } catch (error) {
      fail({ factor: error.message })
    }
  }
  return html`<${Title} text=${me.now.name || me.now.login} />
    <p>${t('self.role')}: <strong>${me.now.role}</strong> · ${t('self.personal')}: ${me.now.personal ? t('yes') : t('no')}</p>
    <div class="split">
      ${!(me.now.outside && !me.now.password) && html`<section class="panel"><h2>${t('self.password')}</h2>
        <form onSubmit=${password}><input name="username" value=${me.now.login} autocomplete="username" aria-label=${t('sign.login')} hidden /><label>${t('self.new')}<input name="password" type="password" autocomplete="new-password" minlength="10" required /></label>
          ${wrong.password && html`<p class="wrong" role="alert">${wrong.password}</p>`}<button class="primary">${t('save')}</button></form>
      </section>`}
      ${fact('outside') && html`<section class="panel"><h2>${fact('outside')}</h2>
        <p>${me.now.outside ? t('self.outside.on', { name: fact('outside') }) : t('self.outside.off', { name: fact('outside') })}</p>
        ${!me.now.outside && html`<button onClick=${link}>${t('self.outside.link')}</button>`}
      </section>`}
      <section class="panel"><h2>${t('self.factor')}</h2>
        <p>${me.now.second_factor ? t('self.factor.on') : t('self.factor.off')}</p>
        ${!factor && html`<button onClick=${begin}>${t('self.factor.begin')}</button>`}
        ${factor && html`<form onSubmit=${finish}><p>${t('self.factor.scan')}</p>
          <svg class="qr" role="img" aria-label=${t('self.factor.picture')} viewBox="0 0 ${factor.picture.size} ${factor.picture.size}" shape-rendering="crispEdges"><path d=${factor.picture.path} /></svg>
          <p>${t('self.factor.secret')}</p><pre>${factor.secret}</pre><p><a href=${factor.uri}>${t('self.factor.open')}</a></p>
          <label>${t('sign.code')}<input name="code" inputmode="numeric" autocomplete="one-time-code" required /></label><button class="primary">${t('save')}</button></form>`}
        ${wrong.factor && html`<p class="wrong" role="alert">${wrong.factor}</p>`}
        ${codes && html`<p>${t('self.recovery')}</p><pre>${codes.join('\n')}</pre>`}
      </section>
      ${fact('passkeys') && html`<${Passkeys} />`}
    </div>
    <p><button onClick=${() => own('session/end', { everywhere: true }).then(hooks.signedOut)}>${t('self.everywhere')}</button></p>`
}
