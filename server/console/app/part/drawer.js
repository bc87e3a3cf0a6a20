// "As a request": the requests of this screen, for users who want to make them in a program.
import { html, useEffect, useReducer, useState } from '../ui.js'
import { t } from '../words.js'
import { calls, onCall } from '../api.js'

const quote = (text) => "'" + text.replaceAll("'", "'\\''") + "'"
const body = (c) => JSON.stringify(c.body ?? {})
const languages = {
  loyalty: (c) => `loyalty sign ${c.method} ${quote(location.origin + c.target)} --send${c.method === 'POST' ? ' --data ' + quote(body(c)) : ''}`,
  Go: (c) =>
    `req, err := http.NewRequest("${c.method}", ${JSON.stringify(location.origin + c.target)}, ${c.method === 'POST' ? 'strings.NewReader(' + '`' + body(c) + '`)' : 'nil'})\n` +
    (c.method === 'POST' ? 'req.Header.Set("Content-Type", "application/json")\n' : '') +
    'resp, err := client.Do(req) // client.Transport: &signing.Transport{Credential: key}',
  TypeScript: (c) => `await signedFetch(${JSON.stringify(c.target)}, ${JSON.stringify(c.method === 'POST' ? { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: body(c) } : { method: 'GET' }, null, 2)})`,
  PHP: (c) => `$response = $client->request('${c.method}', ${quote(c.target)}${c.method === 'POST' ? `, ['body' => ${quote(body(c))}, 'headers' => ['Content-Type' => 'application/json']]` : ''}); // $client signs`,
  Python: (c) => `session.request("${c.method}", ${JSON.stringify(location.origin + c.target)}${c.method === 'POST' ? `, data=${JSON.stringify(body(c))}, headers={"Content-Type": "application/json"}` : ''}, auth=signer)`,
}

export function Drawer({ close }) {
  const [, again] = useReducer((n) => n + 1, 0)
  const [how, choose] = useState('loyalty')
  useEffect(() => onCall(again), [])
  useEffect(() => {
    const esc = (e) => e.key === 'Escape' && close()
    document.addEventListener('keydown', esc)
    return () => document.removeEventListener('keydown', esc)
  }, [])
  return html`<aside class="drawer" aria-label=${t('request.title')}>
    <div class="title"><h2>${t('request.title')}</h2><button class="quiet" onClick=${close}>${t('close')}</button></div>
    <p class="small">${t('request.text')}</p>
    <div class="tabs">${Object.keys(languages).map((name) => html`<button aria-pressed=${how === name} onClick=${() => choose(name)}>${name}</button>`)}</div>
    ${calls.map((c) => html`<pre tabindex="0">${languages[how](c)}</pre>`)}
    ${!calls.length && html`<p>${t('request.none')}</p>`}
  </aside>`
}
