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

// sign gives the steps and the headers of a request. headers are further ones to sign, by their names in small letters.
export async function sign({ method, target, host, headers = {}, body = '', key, secret, region, date }) {
  const all = { ...headers, date, host };
  const names = Object.keys(all).sort();
  const cut = target.indexOf('?');
  const path = cut < 0 ? target : target.slice(0, cut);
  const query = cut < 0 ? '' : target.slice(cut + 1).split('&').filter(Boolean).map(pair => pair.includes('=') ? pair : pair + '=').sort().join('&');
  const canonical = [method, path, query, ...names.map(name => `${name}:${all[name]}`), '', names.join(';'), await sha256(body)].join('\n');
  const scope = [date.slice(0, 8), region, 'api', 'service_request'];
  const text = ['SERVICE-HMAC-SHA256', date, scope.join('/'), await sha256(canonical)].join('\n');
  let derived = bytes('SERVICE' + secret);
  for (const part of scope) derived = await mac(derived, part);
  const signature = hex(await mac(derived, text));
  const authorization = `SERVICE-HMAC-SHA256 Credential=${key}/${scope.join('/')}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
  return { canonical, text, signature, headers: [...Object.entries(headers), ['date', date], ['authorization', authorization]] };
}
