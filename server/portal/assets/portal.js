import { sign, instant } from './sign.js';
import { make, bySession, hourKey } from './owner.js';
import { reasons } from './explain.js';
import { t } from './words.js';

// Samples in several languages are shown one at a time; the choice holds for all pages.
function tabs() {
  const blocks = [...document.querySelectorAll('main pre > code[class^="language-"]')].map(code => code.parentElement);
  const names = { sh: 'Shell', js: 'JavaScript', python: 'Python', php: 'PHP', go: 'Go' };
  const language = block => block.firstElementChild.className.replace('language-', '');
  let group = [];
  const finish = () => {
    if (group.length > 1) {
      const blocks = group, bar = make('div', { class: 'tabs' });
      const show = chosen => blocks.forEach((block, i) => {
        block.hidden = language(block) !== chosen;
        bar.children[i].setAttribute('aria-pressed', String(!block.hidden));
      });
      for (const block of blocks) {
        const button = make('button', { type: 'button' }, names[language(block)]);
        button.addEventListener('click', () => { localStorage.setItem('language', language(block)); show(language(block)); });
        bar.append(button);
      }
      blocks[0].before(bar);
      const kept = localStorage.getItem('language');
      show(blocks.some(block => language(block) === kept) ? kept : language(blocks[0]));
    }
    group = [];
  };
  for (const block of blocks) {
    if (!(language(block) in names)) { finish(); continue; }
    if (group.length && group.at(-1).nextElementSibling !== block) finish();
    group.push(block);
  }
  finish();
}

// The search covers path, title and summary of every page; its index is loaded on first use.
function search() {
  const input = document.getElementById('search'), found = document.getElementById('found');
  let pages;
  const load = () => { pages ??= fetch('/docs/search.json').then(answer => answer.json()); return pages; };
  const look = async () => {
    const terms = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const hits = !terms.length ? [] : (await load())
      .map(page => [page, terms.map(term => [page[1], page[0], page[2]].findIndex(text => text.toLowerCase().includes(term)))])
      .filter(([, at]) => at.every(i => i >= 0)).sort((a, b) => Math.max(...a[1]) - Math.max(...b[1])).slice(0, 30);
    found.replaceChildren(...hits.map(([[path, title, summary]]) => make('li', {}, make('a', { href: path }, title, make('small', {}, summary)))));
    found.hidden = !hits.length;
  };
  input.addEventListener('focus', load);
  input.addEventListener('input', look);
  input.addEventListener('keydown', event => {
    if (event.key === 'Enter') found.querySelector('a')?.click();
    if (event.key === 'ArrowDown') { event.preventDefault(); found.querySelector('a')?.focus(); }
  });
  found.addEventListener('keydown', event => {
    const row = event.target.closest('li');
    const next = event.key === 'ArrowDown' ? row?.nextElementSibling : event.key === 'ArrowUp' ? row?.previousElementSibling ?? input : null;
    if (next) { event.preventDefault(); (next === input ? input : next.firstElementChild).focus(); }
  });
  document.addEventListener('keydown', event => {
    if (event.key === 'Escape') { found.hidden = true; }
    if (event.key === '/' && !event.target.closest('input, textarea, select')) { event.preventDefault(); input.focus(); }
  });
}

const scrolled = text => make('pre', { tabindex: '0' }, make('code', {}, text));
const block = (title, text) => make('details', {}, make('summary', {}, title), scrolled(text));

// languageOf is the language of the platform's messages.
const languageOf = answer => answer.headers.find(([name]) => name.toLowerCase() === 'content-language')?.[1] ?? 'en';

// pretty indents JSON; any other text stays as it is.
function pretty(text) {
  try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; }
}

// The form signs a request visibly and sends it by the relay, because a page may not set Date.
function trial() {
  const section = document.getElementById('try');
  if (!section) return;
  section.hidden = false;
  const form = section.querySelector('form'), outcome = section.querySelector('.outcome'), given = JSON.parse(section.dataset.trial);
  form.elements.method.value = given.method;
  form.elements.target.value = given.target;
  form.elements.body.value = given.body ?? '';
  form.elements.once.value = given.once ? crypto.randomUUID?.() ?? String(Date.now()) : '';
  form.elements.region.value = section.dataset.region;
  if (!globalThis.crypto?.subtle) {
    form.replaceWith(make('p', {}, t('unsigned')));
    return;
  }
  const signed = () => {
    const value = name => form.elements[name].value.trim(), body = value('method') === 'GET' ? '' : form.elements.body.value;
    const headers = {};
    if (body) headers['content-type'] = 'application/json';
    if (value('once')) headers['idempotency-key'] = value('once');
    return sign({
      method: value('method'), target: value('target'), host: location.host, headers, body, key: value('key'), secret: value('secret'),
      region: value('region'), date: instant(new Date()),
    }).then(made => ({ ...made, body, method: value('method'), target: value('target') }));
  };
  const steps = made => [
    block('1 · ' + t('canonical'), made.canonical), block('2 · ' + t('text'), made.text), block('3 · ' + t('signature'), made.signature),
    block('4 · ' + t('headers'), made.headers.map(([name, value]) => `${name}: ${value}`).join('\n')),
  ];
  form.elements.hour?.addEventListener('click', () => hourKey(form, section.querySelector('.made')).catch(error => { section.querySelector('.made').textContent = error.message; }));
  const bySigning = async () => {
    const made = await signed(), { method, target, headers, body } = made;
    const sent = await fetch('/docs/try', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ method, target, headers, body }) });
    if (!sent.ok) throw new Error(await sent.text());
    return { made, answer: await sent.json(), server: sent.headers.get('Date') };
  };
  const byUser = async () => {
    const value = name => form.elements[name].value.trim();
    return { answer: await bySession({ method: value('method'), target: value('target'), once: value('once'), body: form.elements.body.value }) };
  };
  form.elements.only.addEventListener('click', async () => {
    const made = steps(await signed());
    made.forEach(step => { step.open = true; });
    outcome.replaceChildren(...made);
  });
  form.addEventListener('submit', async event => {
    event.preventDefault();
    outcome.replaceChildren(make('p', {}, t('sending')));
    try {
      const { made, answer, server } = await (form.elements.session?.checked ? byUser() : bySigning());
      let error, debug;
      try { ({ error, debug } = JSON.parse(answer.body)); } catch { /* it is no JSON */ }
      const [method, target] = ['method', 'target'].map(name => form.elements[name].value.trim());
      outcome.replaceChildren(
        make('p', { class: 'status' }, t('took', answer) + ' ', error?.code === undefined ? '' : make('a', { href: `/docs/errors/${error.code}` }, t('means', error))),
        ...await reasons({ error, debug, made, method, target, server, language: languageOf(answer) }), scrolled(pretty(answer.body)),
        block(t('answered'), answer.headers.map(([name, value]) => `${name}: ${value}`).join('\n')), ...(made ? steps(made) : []));
    } catch (error) {
      outcome.replaceChildren(make('p', { class: 'status' }, t('unsent', { why: error.message })));
    }
  });
}

// Keyboard users can scroll what has the focus.
for (const block of document.querySelectorAll('main pre')) block.tabIndex = 0;
tabs();
search();
trial();
