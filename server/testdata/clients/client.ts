// A client as a front-end developer would write one: typed by what openapi-typescript makes of the published
// documents, signed with Node's own cryptography. It asks every API one question.
import type { paths as Administration } from './administration';
import type { paths as AutomationCampaigns } from './automation-campaigns';
import type { paths as Coupon } from './coupon';
import type { paths as Customers } from './customers';
import type { paths as Display } from './display';
import type { paths as Entities } from './entities';
import type { paths as Events } from './events';
import type { paths as Leaderboard } from './leaderboard';
import type { paths as Levels } from './levels';
import type { paths as LoyaltyRead } from './loyalty-read';
import type { paths as Offers } from './offers';
import type { paths as Rewards } from './rewards';

declare const process: { env: Record<string, string>; exitCode: number };
declare function fetch(url: string, init: { method: string; headers: Record<string, string>; body?: string }): Promise<{ status: number; text(): Promise<string> }>;
declare const console: { log(text: string): void };
declare function require(name: 'node:crypto'): {
  createHash(name: string): { update(text: string): { digest(form: 'hex'): string } };
  createHmac(name: string, key: unknown): { update(text: string): { digest(form?: 'hex'): unknown } };
};
const crypto = require('node:crypto');

const sha256 = (text: string) => crypto.createHash('sha256').update(text).digest('hex');
const hmac = (key: unknown, text: string) => crypto.createHmac('sha256', key).update(text).digest();

function signed(method: string, path: string, body: string): Record<string, string> {
  const { HOST, KEY_ID, SECRET, REGION } = process.env as Record<'HOST' | 'KEY_ID' | 'SECRET' | 'REGION', string>;
  const date = new Date().toISOString().replace(/[-:]|\.\d{3}/g, '');
  const day = date.slice(0, 8);
  const scope = `${day}/${REGION}/api/service_request`;
  const canonical = [method, path, '', `date:${date}`, `host:${HOST}`, '', 'date;host', sha256(body)].join('\n');
  const key = [day, REGION, 'api', 'service_request'].reduce<unknown>(hmac, 'SERVICE' + SECRET);
  const text = ['SERVICE-HMAC-SHA256', date, scope, sha256(canonical)].join('\n');
  const signature = crypto.createHmac('sha256', key).update(text).digest('hex');
  return { Date: date, 'Content-Type': 'application/json', Authorization: `SERVICE-HMAC-SHA256 Credential=${KEY_ID}/${scope}, SignedHeaders=date;host, Signature=${signature}` };
}

async function send(method: string, path: string, body = ''): Promise<unknown> {
  const answer = await fetch(`http://${process.env['HOST']}${path}`, { method, headers: signed(method, path, body), ...(body ? { body } : {}) });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return JSON.parse(text);
}

// The body that an operation answers with 200.
type Answer<Operation> = Operation extends { responses: { 200: { content: { 'application/json': infer Body } } } } ? Body : never;

async function main() {
  const event: Events['/events']['post']['requestBody'] extends { content: { 'application/json': infer B } } | undefined ? B : never =
    { customer: 'member-1001', action: 'point_add', data: { points: 5 } };
  const outcome = await send('POST', '/events', JSON.stringify(event)) as Answer<Events['/events']['post']>;
  console.log('events ' + outcome.events.map(e => e.action).join());

  const customer = await send('GET', '/customers/member-1001') as Answer<Customers['/customers/{customer_id}']['get']>;
  console.log('customers ' + customer.data.id);
  const rewards = await send('GET', '/customers/member-1001/activities/rewards') as Answer<Display['/customers/{customer_id}/activities/rewards']['get']>;
  console.log('display ' + rewards.data.map(r => r.id).join());
  const entities = await send('GET', '/entities/rewards/reward') as Answer<Entities['/entities/{module}/{entity}']['get']>;
  console.log('entities ' + entities.data.length);
  const catalogue = await send('GET', '/rewards') as Answer<Rewards['/rewards']['get']>;
  console.log('rewards ' + catalogue.data.map(r => r.id).join());
  const coupons = await send('GET', '/coupons') as Answer<Coupon['/coupons']['get']>;
  console.log('coupon ' + coupons.data.length);
  const board = await send('GET', '/customers/leaderboard') as Answer<Leaderboard['/customers/leaderboard']['get']>;
  console.log('leaderboard ' + board.data.map(r => r.rank).join());
  const levels = await send('GET', '/levels') as Answer<Levels['/levels']['get']>;
  console.log('levels ' + levels.data.map(l => l.id).join());
  const offers = await send('GET', '/offers') as Answer<Offers['/offers']['get']>;
  console.log('offers ' + offers.data.map(o => o.id).join());
  const campaigns = await send('GET', '/automation/campaigns') as Answer<AutomationCampaigns['/automation/campaigns']['get']>;
  console.log('automation-campaigns ' + campaigns.data.map(c => c.id).join());
  const modules = await send('GET', '/admin/modules') as Answer<Administration['/admin/modules']['get']>;
  console.log('administration ' + modules.data.length);
  const read = await send('GET', '/v1/customers/member-1001/events') as Answer<LoyaltyRead['/v1/customers/{customer_id}/events']['get']>;
  console.log('loyalty-read ' + (read.data.length > 0));
}

main().catch((err: unknown) => { console.log(String(err)); process.exitCode = 1; });
