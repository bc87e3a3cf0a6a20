// Signs the request that is about to be sent, from the four variables base_url, key_id, secret and region.
// The scheme is the one of the documents: SERVICE-HMAC-SHA256 over method, path, query, host, date and body.
// It works in Postman, in Newman and in Bruno, which knows requests and variables by other names. What Bruno's importer
// would translate stays as it is: translated, a body would be signed as an empty one.
const { SHA256, HmacSHA256, enc } = require('crypto-js');
const at = typeof pm === 'undefined' ? null : pm;
const sending = at ? {
  method: at.request.method, url: at.request.url.toString(),
  body: at.request.body && at.request.body.mode === 'raw' && at.request.body.raw || '',
  header: name => at.request.headers.get(name) || '',
  filled: text => at.variables.replaceIn(text),
  set: (key, value) => at.request.headers.upsert({ key, value }),
  send: () => {}, // the body goes out as it stands
} : {
  method: req.getMethod(), url: req.getUrl(), body: req.getBody({ raw: true }) || '',
  header: name => Object.entries(req.getHeaders()).filter(([own]) => own.toLowerCase() === name.toLowerCase()).map(([, value]) => value)[0] || '',
  filled: text => bru.interpolate(text),
  set: (key, value) => req.setHeader(key, value),
  send: text => text && req.setBody(text, { raw: true }), // these octets, not the object written anew
};
const need = name => {
  const value = sending.filled('{{' + name + '}}');
  if (!value || value === '{{' + name + '}}') throw new Error('Set the variable ' + name + ' of this collection first.');
  return value;
};
const encode = text => encodeURIComponent(text).replace(/[!'()*]/g, c => '%' + c.charCodeAt(0).toString(16).toUpperCase());
const decode = text => decodeURIComponent(text.replace(/\+/g, ' '));
const hex = words => words.toString(enc.Hex);
const hmac = (key, text) => HmacSHA256(text, key);

const full = sending.filled(sending.url);
const [, host, target] = full.match(/^https?:\/\/([^/?#]+)([^#]*)/);
const cut = target.indexOf('?');
const path = (cut < 0 ? target : target.slice(0, cut)) || '/';
const query = (cut < 0 ? '' : target.slice(cut + 1)).split('&').filter(Boolean).map(pair => {
  const i = pair.indexOf('=');
  return i < 0 ? [decode(pair), ''] : [decode(pair.slice(0, i)), decode(pair.slice(i + 1))];
}).sort((a, b) => a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0).map(([name, value]) => encode(name) + '=' + encode(value)).join('&');

const sent = sending.filled(typeof sending.body === 'string' ? sending.body : JSON.stringify(sending.body));
const date = new Date().toISOString().replace(/[-:]|\.\d{3}/g, '');
const day = date.slice(0, 8);
const scope = [day, need('region'), 'api', 'service_request'].join('/');
const repeatable = sending.filled(sending.header('Idempotency-Key')); // signed where it is sent: it must not be changed on the way
const names = repeatable ? 'date;host;idempotency-key' : 'date;host';
const canonical = [sending.method.toUpperCase(), path.split('/').map(s => encode(decodeURIComponent(s))).join('/'), query,
  'date:' + date, 'host:' + host, ...(repeatable ? ['idempotency-key:' + repeatable.trim()] : []), '', names, hex(SHA256(sent))].join('\n');
const text = ['SERVICE-HMAC-SHA256', date, scope, hex(SHA256(canonical))].join('\n');
const key = ['SERVICE' + need('secret'), day, need('region'), 'api', 'service_request'].reduce(hmac);

sending.set('Date', date);
sending.set('Authorization', 'SERVICE-HMAC-SHA256 Credential=' + need('key_id') + '/' + scope + ', SignedHeaders=' + names + ', Signature=' + hex(hmac(key, text)));
sending.send(sent);
