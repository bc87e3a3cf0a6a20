// The signature, step by step, as the page about signing explains it. The secret is only an argument and is never
// stored.
const bytes = text => new TextEncoder().encode(text);
const hex = buffer => [...new Uint8Array(buffer)].map(b => b.toString(16).padStart(2, '0')).join('');
const sha256 = async text => hex(await crypto.subtle.digest('SHA-256', bytes(text)));

async function mac(key, text) {
  const usable = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return crypto.subtle.sign('HMAC', usable, bytes(text));
}

// instant is a moment in the format of the header Date.
export const instant = moment => moment.toISOString().replace(/[-:]|\.\d{3}/g, '');

// octets decodes percent triplets once; escaped writes all but letters, digits and -._~ as percent triplets.
const octets = text => text.split(/(%[0-9a-f]{2})/i).flatMap((part, i) => i % 2 ? [parseInt(part.slice(1), 16)] : [...bytes(part)]);
const escaped = all => all.map(b => /[\w.~-]/.test(String.fromCharCode(b)) ? String.fromCharCode(b) : '%' + b.toString(16).toUpperCase().padStart(2, '0')).join('');

// canonicalPath has no dot segments or empty ones, and each segment is encoded once. A plus is a plus.
function canonicalPath(path) {
  const kept = [], segments = path.split('/').slice(1);
  for (const segment of segments) {
    if (segment === '..') kept.pop();
    else if (segment && segment !== '.') kept.push(escaped(octets(segment)));
  }
  if (kept.length && ['', '.', '..'].includes(segments.at(-1))) kept.push('');
  return '/' + kept.join('/');
}

// canonicalQuery writes the parameters sorted by name and encoded once. A plus is a blank.
function canonicalQuery(query) {
  const decoded = text => octets(text.replaceAll('+', ' '));
  const rows = query.split('&').filter(Boolean).map(pair => {
    const [name, ...rest] = pair.split('='), own = decoded(name);
    return { by: hex(own), name: escaped(own), value: escaped(decoded(rest.join('='))) };
  });
  const compare = (a, b) => a < b ? -1 : Number(a > b);
  return rows.sort((a, b) => compare(a.by, b.by) || compare(a.value, b.value)).map(row => row.name + '=' + row.value).join('&');
}

// canonicalValue has no blanks around it and no two in a row. A repeated header is one list.
const canonicalValue = value => [value].flat().map(one => String(one).replace(/^[ \t]+|[ \t]+$/g, '').replace(/ +/g, ' ')).join(',');

// sign returns the steps and the headers of a request. headers are further ones to sign, by their names in small
// letters: a value, or a list of the values sent under one name.
export async function sign({ method, target, host, headers = {}, body = '', key, secret, region, date }) {
  const all = { ...headers, date, host };
  const names = Object.keys(all).sort();
  const cut = target.indexOf('?');
  const path = canonicalPath(cut < 0 ? target : target.slice(0, cut));
  const query = cut < 0 ? '' : canonicalQuery(target.slice(cut + 1));
  const canonical = [method.toUpperCase(), path, query, ...names.map(name => `${name}:${canonicalValue(all[name])}`), '', names.join(';'), await sha256(body)].join('\n');
  const scope = [date.slice(0, 8), region, 'api', 'service_request'];
  const text = ['SERVICE-HMAC-SHA256', date, scope.join('/'), await sha256(canonical)].join('\n');
  let derived = bytes('SERVICE' + secret);
  for (const part of scope) derived = await mac(derived, part);
  const signature = hex(await mac(derived, text));
  const authorization = `SERVICE-HMAC-SHA256 Credential=${key}/${scope.join('/')}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
  return { canonical, text, signature, headers: [...Object.entries(headers).flatMap(([name, value]) => [value].flat().map(one => [name, one])), ['date', date], ['authorization', authorization]] };
}
