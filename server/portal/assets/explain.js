// Why a request was refused, as far as the page can tell: which part the server read differently, how far the clocks
// differ, and which operations a path may mean.
import { make } from './owner.js';
import { t } from './words.js';

const wrongDate = 101022, notThere = [190066, 190067]; // no such path, no such method
const block = (...children) => make('pre', { tabindex: '0' }, make('code', { class: 'differs' }, ...children));

// part names a line of the page's canonical request.
function part(lines, i) {
  if (i < 3) return t(['method', 'path', 'query'][i]);
  if (i === lines.length - 1) return t('body');
  if (i === lines.length - 2) return t('names');
  return lines[i] ? t('header', { name: lines[i].split(':')[0] }) : t('more');
}

// differs shows what the server made of a refused request, if its settings allow it (LOYALTY_SIGNING_DEBUG): the form
// nearest to the page's own, with the first different line marked.
function differs(canonical, tries) {
  const own = canonical.split('\n');
  const at = lines => { const i = lines.findIndex((line, i) => line !== own[i]); return i < 0 ? lines.length : i; };
  const nearest = tries.map(one => one.canonical_request.split('\n')).sort((a, b) => at(b) - at(a))[0];
  if (!nearest) return [];
  const first = at(nearest);
  if (first === nearest.length && first === own.length) return [make('p', {}, t('alike'))];
  const lines = nearest.map((line, i) => i === first ? make('mark', {}, line || t('empty'), '\n') : line + '\n');
  return [
    make('p', {}, t('differs', { line: first + 1, part: part(own, Math.min(first, own.length - 1)) }) + ' ', make('code', {}, own[first] || t('empty')), ' ' + t('got')),
    block(...lines),
  ];
}

// apart returns how far this machine's clock is from the server's. A date is YYYYMMDDTHHMMSSZ.
function apart(made, answered) {
  const date = made.headers.find(([name]) => name === 'date')[1];
  const signed = Date.parse(date.replace(/(....)(..)(..)T(..)(..)(..)Z/, '$1-$2-$3T$4:$5:$6Z')), server = Date.parse(answered ?? '');
  if (!(Math.abs(server - signed) >= 1000)) return [];
  const seconds = Math.round(Math.abs(server - signed) / 1000), days = Math.floor(seconds / 86400);
  const clock = [Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60, seconds % 60].map(n => String(n).padStart(2, '0')).join(':');
  const format = new Intl.NumberFormat(document.documentElement.lang, { style: 'unit', unit: 'day', unitDisplay: 'long' });
  return [make('p', {}, t(signed < server ? 'behind' : 'ahead', { date, by: (days ? format.format(days) + ' ' : '') + clock }))];
}

// alike are the operations whose paths share parts with the requested one, in singular or plural.
async function alike(method, target) {
  const parts = target.split('?')[0].split('/').filter(Boolean);
  const same = (a, b) => a === b || (a !== undefined && Math.min(a.length, b.length) > 3 && (a.startsWith(b) || b.startsWith(a)));
  const score = summary => {
    const [verb, path] = summary.split(' '), own = path.split('/').filter(Boolean);
    const named = own.filter(one => parts.some(part => same(part, one))).length, placed = own.filter((one, i) => same(parts[i], one) || (one.startsWith('{') && parts[i] !== undefined)).length;
    return named && 4 * named + placed - Math.abs(own.length - parts.length) + (verb === method ? 0.5 : 0);
  };
  const pages = (await (await fetch('/docs/search.json')).json()).filter(([path]) => path.startsWith('/docs/operations/'));
  const near = pages.map(([path, , summary]) => [score(summary), path, summary]).filter(([n]) => n > 0).sort((a, b) => b[0] - a[0]).slice(0, 5);
  if (!near.length) return [make('p', {}, t('unknown') + ' ', make('a', { href: '/docs/apis' }, t('all')))];
  return [make('p', {}, t('nearest')), make('ul', { lang: 'en' }, ...near.map(([, path, summary]) => make('li', {}, make('a', { href: path }, summary))))];
}

// reasons are what the page shows above a refusal: the message, the faulty fields, and what it can find out itself.
export async function reasons({ error, debug, made, method, target, server, language }) {
  if (!error) return [];
  const details = (error.details ?? []).map(one => make('li', {}, ...((one.message ?? '').startsWith(one.field) ? [] : [make('code', {}, one.field), ' ']), one.message ?? ''));
  return [
    make('p', { lang: language }, error.message ?? ''), ...(details.length ? [make('ul', { lang: language }, ...details)] : []),
    ...(error.code === wrongDate && made ? apart(made, server) : []), ...(debug && made && error.code !== wrongDate ? differs(made.canonical, debug) : []),
    ...(notThere.includes(error.code) ? await alike(method, target).catch(() => []) : []),
  ];
}
