// The signature, step by step, as the page about signing tells it. The secret is an argument and stays one.
const bytes = text => new TextEncoder().encode(text);
const hex = buffer => [...new Uint8Array(buffer)].map(b => b.toString(16).padStart(2, '0')).join('');
const sha256 = async text => hex(await crypto.subtle.digest('SHA-256', bytes(text)));

async function mac(key, text) {
  const usable = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return crypto.subtle.sign('HMAC', usable, bytes(text));
}

// instant is a moment as the header Date has it.
export const instant = moment => moment.toISOString().replace(/[-:]|\.\d{3}/g, '');

// canonicalQuery writes the parameters by their names, all but letters, digits and -._~ as percent triplets, however they were
// written. A plus is a blank.
function canonicalQuery(query) {
  const octets = text => text.replaceAll('+', ' ').split(/(%[0-9a-f]{2})/i).flatMap((part, i) => i % 2 ? [parseInt(part.slice(1), 16)] : [...bytes(part)]);
  const escaped = all => all.map(b => /[\w.~-]/.test(String.fromCharCode(b)) ? String.fromCharCode(b) : '%' + b.toString(16).toUpperCase().padStart(2, '0')).join('');
  const rows = query.split('&').filter(Boolean).map(pair => {
    const [name, ...rest] = pair.split('='), decoded = octets(name);
    return { by: hex(decoded), name: escaped(decoded), value: escaped(octets(rest.join('='))) };
  });
  const compare = (a, b) => a < b ? -1 : Number(a > b);
  return rows.sort((a, b) => compare(a.by, b.by) || compare(a.value, b.value)).map(row => row.name + '=' + row.value).join('&');
}

// sign gives the steps and the headers of a request. headers are further ones to sign, by their names in small letters.
export async function sign({ method, target, host, headers = {}, body = '', key, secret, region, date }) {
  const all = { ...headers, date, host };
  const names = Object.keys(all).sort();
  const cut = target.indexOf('?');
  const path = cut < 0 ? target : target.slice(0, cut);
  const query = cut < 0 ? '' : canonicalQuery(target.slice(cut + 1));
  const canonical = [method, path, query, ...names.map(name => `${name}:${all[name]}`), '', names.join(';'), await sha256(body)].join('\n');
  const scope = [date.slice(0, 8), region, 'api', 'service_request'];
  const text = ['SERVICE-HMAC-SHA256', date, scope.join('/'), await sha256(canonical)].join('\n');
  let derived = bytes('SERVICE' + secret);
  for (const part of scope) derived = await mac(derived, part);
  const signature = hex(await mac(derived, text));
  const authorization = `SERVICE-HMAC-SHA256 Credential=${key}/${scope.join('/')}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
  return { canonical, text, signature, headers: [...Object.entries(headers), ['date', date], ['authorization', authorization]] };
}
