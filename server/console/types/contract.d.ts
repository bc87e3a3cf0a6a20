// The operations as the documents have them: `make types` makes the files under made/.
import type { paths as administration } from './made/administration'
import type { paths as campaigns } from './made/automation-campaigns'
import type { paths as coupon } from './made/coupon'
import type { paths as customers } from './made/customers'
import type { paths as display } from './made/display'
import type { paths as entities } from './made/entities'
import type { paths as events } from './made/events'
import type { paths as leaderboard } from './made/leaderboard'
import type { paths as levels } from './made/levels'
import type { paths as read } from './made/loyalty-read'
import type { paths as offers } from './made/offers'
import type { paths as rewards } from './made/rewards'

type Paths = administration & campaigns & coupon & customers & display & entities & events & leaderboard & levels & read & offers & rewards

type Split<S extends string> = S extends `${infer First}/${infer Rest}` ? [First, ...Split<Rest>] : [S]

// Fits says whether a path that a file writes, part by part, is one of the contract's.
type Fits<Written, Known> = Written extends [infer W, ...infer Ws]
  ? Known extends [infer K, ...infer Ks]
    ? K extends `{${string}}` ? Fits<Ws, Ks> : W extends K ? Fits<Ws, Ks> : false
    : false
  : Known extends [] ? true : false

// Route is the path of the contract that a written one is; never: none.
type Route<P extends string> = P extends keyof Paths ? P : { [K in keyof Paths & string]: Fits<Split<P>, Split<K>> extends true ? K : never }[keyof Paths & string]

// Operation is what may be asked there; never: nothing. A path that is put together from variables is not known here.
type Operation<P extends string, M extends string> = string extends P ? any
  : P extends `/${string}` ? Fixed<P, M> : any

type Fixed<P extends string, M extends string> = [Route<P>] extends [never] ? never
  : Paths[Route<P>] extends Record<M, infer O> ? O : never

// Known lets a call with what it takes through, and no other.
type Known<P extends string, M extends string, Takes extends any[]> = [Operation<P, M>] extends [never] ? ['the contract has no such operation', never] : Takes

type JSONOf<R, Status extends number> = R extends Record<Status, { content: { 'application/json': infer A } }> ? A : never

// Answer is that of 200 or 201; where there is a 202 too, what comes is not known here.
type Answer<P extends string, M extends string> = Operation<P, M> extends { responses: infer R }
  ? [JSONOf<R, 202>] extends [never] ? ([JSONOf<R, 200>] extends [never] ? ([JSONOf<R, 201>] extends [never] ? any : JSONOf<R, 201>) : JSONOf<R, 200>) : any
  : any

// Query has the names that an operation knows; values are written as text anyway.
type Query<P extends string, M extends string> = Operation<P, M> extends { parameters: { query?: infer Q } }
  ? { [N in keyof NonNullable<Q>]?: unknown } & { [N in `cf_${string}`]?: unknown }
  : Record<string, unknown>

type Body<P extends string, M extends string> = Operation<P, M> extends { requestBody?: { content: { 'application/json': infer B } } } ? B : Record<string, unknown>

export type Get = <P extends string>(path: P, ...takes: Known<P, 'get', [params?: Query<P, 'get'>]>) => Promise<Answer<P, 'get'>>
export type Post = <P extends string>(path: P, ...takes: Known<P, 'post', [body?: Body<P, 'post'>, key?: string]>) => Promise<Answer<P, 'post'>>
export type Ask = <P extends string>(path: P, ...takes: Known<P, 'post', [body?: Body<P, 'post'>, quiet?: boolean]>) => Promise<Answer<P, 'post'>>
