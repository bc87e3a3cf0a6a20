// Runs the signing script of a collection as Bruno does, with what Bruno calls a request and its variables, and prints what would be
// sent. The library of hashes that Bruno brings is written over node's own.
const { createHash, createHmac } = require('node:crypto');
const [script, request, variables] = process.argv.slice(2);
const sent = JSON.parse(request), values = JSON.parse(variables);
const wrap = octets => ({ octets, toString: () => octets.toString('hex') });
const octets = v => typeof v === 'string' ? v : v.octets;
const library = {
  enc: { Hex: 'hex' },
  SHA256: text => wrap(createHash('sha256').update(text).digest()),
  HmacSHA256: (text, key) => wrap(createHmac('sha256', octets(key)).update(text).digest()),
};
const req = {
  getMethod: () => sent.method, getUrl: () => sent.url, getHeaders: () => sent.headers,
  getBody: options => options?.raw ? sent.body : JSON.parse(sent.body),
  setHeader: (name, value) => { sent.headers[name] = value; },
  setBody: (data, options) => { sent.body = options?.raw ? data : JSON.stringify(data); },
};
const bru = { interpolate: text => text.replace(/\{\{(\w+)\}\}/g, (whole, name) => values[name] ?? whole) };
new Function('req', 'bru', 'require', script)(req, bru, () => library);
sent.url = bru.interpolate(sent.url);
console.log(JSON.stringify(sent));
