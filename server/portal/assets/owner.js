// What a user who is signed in to the console can do on a page of the portal: send a request by the session, and, as an
// owner, make a key that only reads and ends in an hour. The browser sends the session's cookie only to the console;
// this script never sees it.
import { t } from './words.js';

const bridge = '/console/api';
const proofNeeded = 190641;

// make makes an element; strings stay text.
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

async function call(method, path, body, more = {}) {
  const headers = body === undefined ? more : { 'Content-Type': 'application/json', ...more };
  const answer = await fetch(path, { method, headers, body, credentials: 'same-origin' });
  return { answer, text: await answer.text() };
}

// bySession sends a request as the signed-in user, and returns the answer in the form of the relay.
export async function bySession({ method, target, once, body }) {
  const began = performance.now(), headers = once && method === 'POST' ? { 'Idempotency-Key': once } : {};
  const { answer, text } = await call(method, bridge + target, method === 'POST' ? body || '{}' : undefined, headers);
  return { status: answer.status, headers: [...answer.headers], body: text, took: Math.round(performance.now() - began) };
}

const toConsole = () => make('a', { href: '/console/', target: '_blank', rel: 'noopener' }, t('enter'));
const fault = text => { try { return JSON.parse(text).error ?? {}; } catch { return {}; } };

// proof asks for a proof of identity, as the console does before a key is made.
function proof(me, told, again) {
  if (!me.password && !me.second_factor) {
    told.replaceChildren(make('p', {}, t('anew') + ' ', toConsole()));
    return;
  }
  const form = make('form', {}), row = make('div', { class: 'row' }), wrong = make('p', { role: 'alert' });
  const field = (label, attributes) => { const input = make('input', attributes); row.append(make('label', {}, label + ' ', input)); return input; };
  const password = me.password && field(t('password'), { type: 'password', autocomplete: 'current-password' });
  const code = me.second_factor && field(t('code'), { inputmode: 'numeric', autocomplete: 'one-time-code' });
  form.append(make('p', {}, t('proof')), row, wrong, make('button', { type: 'submit' }, t('confirm')));
  form.addEventListener('submit', async event => {
    event.preventDefault();
    const said = JSON.stringify({ password: password ? password.value : '', code: code ? code.value : '' });
    const { answer, text } = await call('POST', '/console/session/confirm', said);
    if (answer.ok) again();
    else wrong.textContent = fault(text).message ?? t('unconfirmed');
  });
  told.replaceChildren(form);
  row.querySelector('input').focus();
}

// hourKey makes the key and puts it into the form. The hour is by the server's clock, because this machine's may
// differ.
export async function hourKey(form, told) {
  const { answer, text } = await call('GET', bridge + '/admin/me');
  if (answer.status === 401) {
    told.replaceChildren(make('p', {}, t('nobody') + ' ', toConsole()));
    return;
  }
  const me = answer.ok ? JSON.parse(text).data : { operations: [] };
  if (!me.operations.includes('createKey')) {
    told.replaceChildren(make('p', {}, t('owner')));
    return;
  }
  const ends = new Date(Date.parse(answer.headers.get('Date') ?? '') || Date.now());
  ends.setTime(ends.getTime() + 3600_000);
  const made = await call('POST', bridge + '/admin/keys', JSON.stringify({ label: 'Portal, for an hour', read_only: true, expires_at: ends.toISOString() }), { 'Idempotency-Key': crypto.randomUUID() });
  if (fault(made.text).code === proofNeeded) {
    proof(me, told, () => hourKey(form, told));
    return;
  }
  if (!made.answer.ok) {
    told.replaceChildren(make('p', {}, fault(made.text).message ?? t('unmade')));
    return;
  }
  const { key_id, secret, expires_at } = JSON.parse(made.text).data;
  form.elements.key.value = key_id;
  form.elements.secret.value = secret;
  form.elements.session.checked = false;
  told.replaceChildren(make('p', {}, t('made', { key: key_id, at: new Date(expires_at).toLocaleTimeString(document.documentElement.lang) })));
}
