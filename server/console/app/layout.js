// What stands around every screen: the menu, finding anything, the drawer and the keys.
import { html, useEffect, useRef, useState } from './ui.js'
import { t, lang, keepLanguage } from './words.js'
import { can, me } from './api.js'
import { go } from './router.js'
import { screens } from './screens.js'
import { Drawer } from './part/drawer.js'
import { openDialog } from './part/dialog.js'
import { Toasts } from './part/toast.js'

const shown = () => screens.filter((s) => !s.hidden && (!s.needs || can(s.needs)))

export function Layout({ place, leave, changed, children }) {
  const [drawer, setDrawer] = useState(false)
  const [menu, setMenu] = useState(false)
  const [lost, setLost] = useState(false)
  const find = useRef()
  useEffect(() => {
    const away = () => setLost(true)
    const back = () => setLost(false)
    window.addEventListener('lost', away)
    window.addEventListener('found', back)
    return () => (window.removeEventListener('lost', away), window.removeEventListener('found', back))
  }, [])
  useKeys({ find: () => find.current?.focus(), drawer: () => setDrawer((d) => !d) })
  useEffect(() => setMenu(false), [place.path])
  const at = place.parts[0] || ''
  return html`
    <a class="skip" href="#main" onClick=${(e) => (e.preventDefault(), document.getElementById('main').focus())}>${t('skip')}</a>
    <header class="top">
      <button class="menu-button" aria-expanded=${menu} aria-controls="menu" onClick=${() => setMenu(!menu)}>☰<span class="hidden">${t('menu')}</span></button>
      <a class="brand" href="#/">Loyalty</a>
      <form role="search" onSubmit=${(e) => (e.preventDefault(), anything(e.target.elements.q.value), e.target.reset())}>
        <input ref=${find} name="q" type="search" placeholder=${t('find')} aria-label=${t('find')} autocomplete="off" />
      </form>
      <button class="quiet" onClick=${() => setDrawer(!drawer)} aria-expanded=${drawer} title=${t('request.title') + ' (r)'}>{ }<span class="hidden">${t('request.title')}</span></button>
      <select aria-label=${t('language')} value=${lang.now} onChange=${(e) => keepLanguage(e.target.value).then(changed)}>
        ${lang.all.map((l) => html`<option value=${l}>${l}</option>`)}
      </select>
      <a href="#/self">${me.now.name || me.now.login}</a>
      <button class="quiet" onClick=${leave}>${t('sign.out')}</button>
    </header>
    ${lost && html`<p class="bar" role="alert">${t('error.lost')}</p>`}
    ${!me.now.password && html`<aside class="bar soft" aria-label=${t('self.password')}>${t('self.none')} <a href="#/self">${t('self.password')}</a></aside>`}
    <div class="body">
      <nav id="menu" class=${menu ? 'open' : ''} aria-label=${t('menu')}>
        <ul>${shown().map((s) => html`<li><a href=${'#/' + s.path} aria-current=${at === s.path ? 'page' : undefined}>${t('nav.' + s.name)}</a></li>`)}</ul>
      </nav>
      <main id="main" tabindex="-1">${children}</main>
    </div>
    ${drawer && html`<${Drawer} close=${() => setDrawer(false)} />`}
    <${Toasts} />`
}

// anything opens what a text names: a coupon by its code with "coupon ", else a customer.
function anything(text) {
  const wanted = text.trim()
  if (!wanted) return
  const known = screens.find((s) => !s.hidden && t('nav.' + s.name).toLowerCase() === wanted.toLowerCase())
  if (known) return go('/' + known.path)
  go('/customers?search=' + encodeURIComponent(wanted))
}

function useKeys(on) {
  useEffect(() => {
    let after = ''
    const pressed = (e) => {
      const field = e.target.closest?.('input, textarea, select, [contenteditable]')
      if (field || e.ctrlKey || e.metaKey || e.altKey) return
      if (after === 'g') {
        after = ''
        const s = shown().find((one) => one.key === e.key)
        if (s) return go('/' + s.path)
      }
      if (e.key === '/') return e.preventDefault(), on.find()
      if (e.key === 'r') return on.drawer()
      if (e.key === '?') return openDialog({ title: t('keys.title'), text: t('keys.list') })
      if (e.key === 'g') after = 'g'
    }
    document.addEventListener('keydown', pressed)
    return () => document.removeEventListener('keydown', pressed)
  }, [])
}
