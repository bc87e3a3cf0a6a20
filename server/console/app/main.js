// Starts the console: the signed-in user, the open screen, and the parts of every page.
import { html, render, useEffect, useState } from './ui.js'
import { t, speak, settle, has } from './words.js'
import { get, own, me, hooks, forgetCalls, sight, beginAt } from './api.js'
import { usePlace } from './router.js'
import { screenOf } from './screens.js'
import { Layout } from './layout.js'
import { SignIn } from './screen/signin.js'
import { Dialogs, askConfirm } from './part/dialog.js'
import { Failure, Loading } from './part/state.js'

function App() {
  const [who, set] = useState(undefined)
  const [, redraw] = useState(0)
  const place = usePlace()
  beginAt(place.path)
  const enter = async () => {
    try {
      me.now = (await get('/admin/me')).data
      await speak(me.now.language)
      settle((await get('/admin/settings')).data)
      set(me.now)
    } catch (e) {
      if (e.status === 401) set(null)
      else set({ error: e })
    }
  }
  useEffect(() => {
    hooks.signedOut = () => set(null)
    hooks.confirm = askConfirm
    sight.changed = hooks.changed = () => redraw((n) => n + 1)
    start().then(enter, (e) => set({ error: e }))
    // a link that is pasted into an open console changes only the part behind the # sign
    const pasted = () => location.hash.startsWith('#enter/') && location.reload()
    window.addEventListener('hashchange', pasted)
    return () => window.removeEventListener('hashchange', pasted)
  }, [])
  if (who === undefined) return html`<${Loading} />`
  if (who?.error) return html`<main><${Failure} error=${who.error} again=${enter} /></main>`
  if (who === null) return html`<${SignIn} done=${enter} /><${Dialogs} />`
  return html`<${Layout} place=${place} leave=${() => own('session/end').then((left) => ((hooks.elsewhere = left.elsewhere), set(null)))} changed=${enter}><${Screen} place=${place} /></${Layout}><${Dialogs} />`
}

// start takes a one-time link. Its token is behind the # sign, which browsers send to no server.
async function start() {
  await speak()
  const link = location.hash.match(/^#enter\/([\w-]+)$/)
  if (!link) return
  location.replace('#/')
  try {
    await own('enter', { token: link[1] })
  } catch (e) {
    if (e.status !== 401) throw e
    hooks.linkOver = e.message
  }
}

function Screen({ place }) {
  const entry = screenOf(place)
  const [loaded, set] = useState({})
  useEffect(() => {
    forgetCalls()
    let here = true
    import(`./screen/${entry.file}.js`).then(
      (module) => here && set({ file: entry.file, view: module.default }),
      (error) => here && set({ file: entry.file, error }),
    )
    return () => {
      here = false
    }
  }, [entry.file, place.path])
  useEffect(() => {
    const name = t('nav.' + entry.name)
    document.title = `${has('nav.' + entry.name) ? name : ''} · Loyalty`
  }, [entry.name])
  if (loaded.error) return html`<${Failure} error=${loaded.error} />`
  if (loaded.file !== entry.file) return html`<${Loading} />`
  return html`<${loaded.view} place=${place} key=${entry.file + '/' + (place.parts[1] || '') + '/' + (place.parts[2] || '')} />`
}

render(html`<${App} />`, document.getElementById('app'))
