import { createHash, createHmac } from 'node:crypto';

const sha256 = text => createHash('sha256').update(text).digest('hex');

// Sends a signed request. target is path and query, percent-encoded; once is an Idempotency-Key.
export async function send(method, target, body, once) {
  const env = process.env, base = env.LOYALTY_URL ?? 'http://127.0.0.1:8080';
  const payload = body === undefined ? '' : JSON.stringify(body);
  const date = new Date().toISOString().replace(/[-:]|\.\d{3}/g, '');
  const headers = { date, host: new URL(base).host };
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (once) headers['idempotency-key'] = once;

  const [path, query = ''] = target.split('?');
  const names = Object.keys(headers).sort();
  const canonical = [
    method, path, query.split('&').sort().join('&'), ...names.map(name => `${name}:${headers[name]}`), '',
    names.join(';'), sha256(payload),
  ].join('\n');
  const scope = [date.slice(0, 8), env.LOYALTY_REGION ?? 'local', 'api', 'service_request'];
  const text = ['SERVICE-HMAC-SHA256', date, scope.join('/'), sha256(canonical)].join('\n');
  const key = scope.reduce((key, part) => createHmac('sha256', key).update(part).digest(), 'SERVICE' + env.LOYALTY_SECRET);
  const signature = createHmac('sha256', key).update(text).digest('hex');
  headers.authorization = `SERVICE-HMAC-SHA256 Credential=${env.LOYALTY_KEY_ID}/${scope.join('/')}, ` +
    `SignedHeaders=${names.join(';')}, Signature=${signature}`;

  const answer = await fetch(base + target, { method, headers, body: payload || undefined });
  const json = answer.headers.get('content-type')?.startsWith('application/json');
  return [answer.status, await (json ? answer.json() : answer.text())];
}
