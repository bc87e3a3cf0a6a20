// Signs the request that is about to be sent, from the four variables base_url, key_id, secret and region.
// The scheme is the one of the documents: SERVICE-HMAC-SHA256 over method, path, query, host, date and body.
const need = name => {
  const value = pm.variables.get(name);
  if (!value) throw new Error('Set the variable ' + name + ' of this collection first.');
  return value;
};
const encode = text => encodeURIComponent(text).replace(/[!'()*]/g, c => '%' + c.charCodeAt(0).toString(16).toUpperCase());
const decode = text => decodeURIComponent(text.replace(/\+/g, ' '));
const hex = words => words.toString(CryptoJS.enc.Hex);
const hmac = (key, text) => CryptoJS.HmacSHA256(text, key);

const full = pm.variables.replaceIn(pm.request.url.toString());
const [, host, target] = full.match(/^https?:\/\/([^/?#]+)([^#]*)/);
const cut = target.indexOf('?');
const path = (cut < 0 ? target : target.slice(0, cut)) || '/';
const query = (cut < 0 ? '' : target.slice(cut + 1)).split('&').filter(Boolean).map(pair => {
  const i = pair.indexOf('=');
  return i < 0 ? [decode(pair), ''] : [decode(pair.slice(0, i)), decode(pair.slice(i + 1))];
}).sort((a, b) => a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0).map(([name, value]) => encode(name) + '=' + encode(value)).join('&');

const body = pm.request.body && pm.request.body.mode === 'raw' && pm.request.body.raw || '';
const sent = pm.variables.replaceIn(body);
const date = new Date().toISOString().replace(/[-:]|\.\d{3}/g, '');
const day = date.slice(0, 8);
const scope = [day, need('region'), 'api', 'service_request'].join('/');
const once = pm.request.headers.get('Idempotency-Key'); // signed where it is sent: nobody may change it on the way
const repeatable = once && pm.variables.replaceIn(once);
const names = repeatable ? 'date;host;idempotency-key' : 'date;host';
const canonical = [pm.request.method.toUpperCase(), path.split('/').map(s => encode(decodeURIComponent(s))).join('/'), query,
  'date:' + date, 'host:' + host, ...(repeatable ? ['idempotency-key:' + repeatable.trim()] : []), '', names, hex(CryptoJS.SHA256(sent))].join('\n');
const text = ['SERVICE-HMAC-SHA256', date, scope, hex(CryptoJS.SHA256(canonical))].join('\n');
const key = ['SERVICE' + need('secret'), day, need('region'), 'api', 'service_request'].reduce(hmac);

pm.request.headers.upsert({ key: 'Date', value: date });
pm.request.headers.upsert({
  key: 'Authorization',
  value: 'SERVICE-HMAC-SHA256 Credential=' + need('key_id') + '/' + scope + ', SignedHeaders=' + names + ', Signature=' + hex(hmac(key, text)),
});
