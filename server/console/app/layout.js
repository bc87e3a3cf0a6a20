// The frame of every screen: the menu, the search, the drawer and the keys.
import { html, useEffect, useRef, useState } from './ui.js'
import { t, lang, keepLanguage, zoneName } from './words.js'
import { can, me, sight, showPersonal } from './api.js'
import { go, place as placeNow } from './router.js'
import { screens, groups, screenOf } from './screens.js'
import { Icon } from './part/icon.js'
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
  const made = place.parts[0] === 'entity' && screens.find((s) => s.make === place.parts[1] + '/' + place.parts[2])
  const at = made ? made.path : screenOf(place).at ?? (place.parts[0] || '')
  const open = shown()
  return html`
    <a class="skip" href="#main" onClick=${(e) => (e.preventDefault(), document.getElementById('main').focus())}>${t('skip')}</a>
    <header class="top">
      <button class="menu-button" aria-expanded=${menu} aria-controls="menu" onClick=${() => setMenu(!menu)}>☰<span class="hidden">${t('menu')}</span></button>
      <a class="brand" href="#/"><${Icon} name="brand" size="22" />Loyalty</a>
      <form role="search" onSubmit=${(e) => (e.preventDefault(), anything(e.target.elements.q.value), e.target.reset())}>
        <input ref=${find} name="q" type="search" placeholder=${t('find')} aria-label=${t('find')} autocomplete="off" />
      </form>
      <button class="quiet" onClick=${() => setDrawer(!drawer)} aria-expanded=${drawer} title=${t('request.title') + ' (r)'}>{ }<span class="hidden">${t('request.title')}</span></button>
      <select aria-label=${t('language')} value=${lang.now} onChange=${(e) => keepLanguage(e.target.value).then(changed)}>
        ${lang.all.map((l) => html`<option value=${l}>${l}</option>`)}
      </select>
      <a class="who" href="#/self">${me.now.name || me.now.login}</a>
      <button class="quiet" onClick=${leave}>${t('sign.out')}</button>
    </header>
    ${lost && html`<p class="bar" role="alert">${t('error.lost')}</p>`}
    ${!me.now.password && !me.now.outside && !me.now.passkeys && html`<aside class="bar soft" aria-label=${t('self.password')}>${t('self.none')} <a href="#/self">${t('self.password')}</a></aside>`}
    <div class="body">
      <nav id="menu" class=${menu ? 'open' : ''} aria-label=${t('menu')}>
        <div class="in">${groups.map((g) => {
          const inside = open.filter((s) => s.group === g)
          return inside.length > 0 && html`<p id=${'menu-' + g}>${t('menu.' + g)}</p>
            <ul aria-labelledby=${'menu-' + g}>${inside.map((s) => html`<li><a href=${'#/' + s.path} aria-current=${at === s.path ? 'page' : undefined}><${Icon} name=${s.name} />${t('nav.' + s.name)}</a></li>`)}</ul>`
        })}<p class="zone">${t('zone', { zone: zoneName() })}</p></div>
      </nav>
      <main id="main" tabindex="-1">${me.now.personal && sight.masked && html`<p class="bar soft sight" role="status">${sight.shown ? t('sight.shown') : t('sight.masked')} <button class="tiny" aria-pressed=${sight.shown} onClick=${() => showPersonal(!sight.shown)}>${sight.shown ? t('sight.hide') : t('sight.show')}</button></p>`}${children}</main>
    </div>
    ${drawer && html`<${Drawer} close=${() => setDrawer(false)} />`}
    <${Toasts} />`
}

// anything opens what a text names. The module that searches is loaded when it is needed.
async function anything(text) {
  if (!text.trim()) return
  const { find } = await import('./part/find.js')
  go(await find(text).catch(() => '/customers?search=' + encodeURIComponent(text.trim())))
}

// The keys can be switched off; their list, where they are switched on again, always opens.
const silent = 'loyalty.keys'
const off = () => localStorage.getItem(silent) === 'off'

// begin opens the form for a new entity of the kind on the screen.
function begin() {
  const at = placeNow()
  const kind = at.query.tab === 'pools' ? 'coupons/pool' : at.parts[0] === 'programme' ? at.query.type || 'rewards/reward' : at.parts[0] === 'entity' ? at.parts.slice(1, 3).join('/') : screenOf(at).make
  if (kind && can('createEntity')) return go('/entity/' + kind)
  const field = /** @type {HTMLElement} */ (document.querySelector('main form input'))
  field?.focus()
}

function useKeys(on) {
  useEffect(() => {
    let after = ''
    const pressed = (e) => {
      const field = e.target.closest?.('input, textarea, select, [contenteditable]')
      if (field || e.ctrlKey || e.metaKey || e.altKey) return
      if (after === 'g' && !off()) {
        after = ''
        const s = shown().find((one) => one.key === e.key)
        if (s) return go('/' + s.path)
      }
      if (e.key === '/' && !off()) return e.preventDefault(), on.find()
      if (e.key === 'r' && !off()) return on.drawer()
      if (e.key === '?') return openDialog({ title: t('keys.title'), content: html`<p class="lines">${t('keys.list')}</p><label class="check"><input type="checkbox" checked=${off()} onChange=${(x) => localStorage.setItem(silent, x.target.checked ? 'off' : '')} /> ${t('keys.off')}</label>` })
      if (off()) return
      if (e.key === 'n') return begin()
      if (e.key === 'e') return document.querySelector('main [data-edit], main .editor input, main .editor textarea')?.[document.querySelector('main [data-edit]') ? 'click' : 'focus']()
      if (e.key === 'g') after = 'g'
    }
    document.addEventListener('keydown', pressed)
    return () => document.removeEventListener('keydown', pressed)
  }, [])
}
