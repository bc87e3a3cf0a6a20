import { sign, instant } from './sign.js';

// make makes an element; what is text stays text.
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

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

// The search looks through path, title and summary of every page; it is loaded when it is first needed.
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

const block = (title, text) => make('details', {}, make('summary', {}, title), make('pre', {}, make('code', {}, text)));

// pretty writes JSON as people read it, and anything else as it is.
function pretty(text) {
  try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; }
}

// differs shows what the server made of a refused request, where its settings let it tell (LOYALTY_SIGNING_DEBUG): the form that
// is nearest to the page's own, with the first line that differs marked.
function differs(canonical, tries) {
  const own = canonical.split('\n');
  const at = lines => { const i = lines.findIndex((line, i) => line !== own[i]); return i < 0 ? lines.length : i; };
  const nearest = tries.map(one => one.canonical_request.split('\n')).sort((a, b) => at(b) - at(a))[0];
  if (!nearest) return [];
  const first = at(nearest), same = first === nearest.length && first === own.length;
  const lines = nearest.map((line, i) => i === first ? make('mark', {}, line || '(an empty line)', '\n') : line + '\n');
  return [
    make('p', {}, same ? 'The server canonicalised the request as this page did: key or secret are wrong.' : `Line ${first + 1} of what the server canonicalised differs:`),
    make('pre', {}, make('code', { class: 'differs' }, ...lines)),
  ];
}

// The form signs a request before the reader's eyes and sends it by the relay, because a page may not set Date.
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
    form.replaceWith(make('p', {}, 'A browser signs on https and on this machine only. Use "loyalty sign" here.'));
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
    block('1 · The canonical request', made.canonical), block('2 · The string to sign', made.text), block('3 · The signature', made.signature),
    block('4 · The headers', made.headers.map(([name, value]) => `${name}: ${value}`).join('\n')),
  ];
  form.elements.only.addEventListener('click', async () => {
    const made = steps(await signed());
    made.forEach(step => { step.open = true; });
    outcome.replaceChildren(...made);
  });
  form.addEventListener('submit', async event => {
    event.preventDefault();
    const made = await signed();
    outcome.replaceChildren(make('p', {}, 'Sending …'));
    try {
      const { method, target, headers, body } = made;
      const sent = await fetch('/docs/try', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ method, target, headers, body }) });
      if (!sent.ok) throw new Error(await sent.text());
      const answer = await sent.json();
      let code, debug;
      try { ({ error: { code } = {}, debug } = JSON.parse(answer.body)); } catch { /* it is no JSON */ }
      outcome.replaceChildren(
        make('p', { class: 'status' }, `${answer.status} in ${answer.took} ms `, code === undefined ? '' : make('a', { href: `/docs/errors/${code}` }, `What error ${code} means`)),
        ...(debug ? differs(made.canonical, debug) : []), make('pre', {}, make('code', {}, pretty(answer.body))),
        block('Headers of the answer', answer.headers.map(([name, value]) => `${name}: ${value}`).join('\n')), ...steps(made));
    } catch (error) {
      outcome.replaceChildren(make('p', { class: 'status' }, `It was not sent: ${error.message}`));
    }
  });
}

// What can be scrolled can be scrolled by keys.
for (const block of document.querySelectorAll('main pre')) block.tabIndex = 0;
tabs();
search();
trial();
