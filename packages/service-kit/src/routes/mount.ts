import { parse as parseQueryString } from 'node:querystring';
import { setTimeout as sleep } from 'node:timers/promises';
import type { InternalCall } from '@wts/access';
import type { BodyOf, Contract, ErrorCode, JsonSchema, ParamsOf, Principal, QueryOf, ReplyOf } from '@wts/contracts';
import { COUNT_PATTERN, Fault, isStorableText } from '@wts/contracts';
import type { IRouter, Request, Response } from 'express';
import { currentCall } from '../call/current-call.ts';
import { sendJson } from '../http/answer.ts';
import { Call, signalOf } from './call.ts';
import { contextOf } from '../http/request-context.ts';
import { hasBody } from '../http/unread-body.ts';
import type { Idempotency } from './idempotency.ts';
import { readForm } from '../http/read-form.ts';
import { readJson } from '../http/read-json.ts';
import { compile, type Validate } from './validate.ts';
import { whoCalls } from './who-calls.ts';
import { SERVICE_LIMITS } from '../limits.ts';

export interface MountOptions<C = Contract> {
  /** Needed by contracts that accept an `Idempotency-Key`. */
  readonly idempotency?: Idempotency;
  /** Throws when the stored reply of a success is no longer true, so that a repeated request does not get it. */
  readonly confirmReplay?: (call: Call<C>, reply: ReplyOf<C>) => Promise<void>;
  /** Where the service itself checks the credential, and not the gateway. */
  readonly authenticate?: Authenticate;
}

/** Who sends a request, decided before anything else of it is read. Throws the fault of a bad credential. */
export type Authenticate = (req: Request, res: Response) => Promise<InternalCall>;

/** A reply with literal types (`ok: true`), which inference would widen to `boolean`. */
export type Frozen<T> = T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T;

/**
 * Mounts an operation. Checks the caller (the internal token) first, then the scope, path, query and body, so that a caller without
 * access learns nothing about them. Then the handler runs and returns the reply.
 * Keeps meta.paths.uuids.
 */
export function mount<C extends Contract, const R extends Frozen<ReplyOf<C>>>(
  router: IRouter,
  contract: C,
  handler: (call: Call<C>) => Promise<R>,
  options: MountOptions<C> = {},
): void {
  const { status, schema } = contract.reply;
  let checkReply: Validate | undefined;
  const idempotency = contract.idempotencyKey ? options.idempotency : undefined;
  if (contract.idempotencyKey && idempotency === undefined) throw new Error(`${contract.id} needs a store of keys`);
  const headers = contract.scope === 'none' ? {} : { 'cache-control': 'no-store' };
  mountStream(
    router,
    contract,
    async (call) => {
      const kept = await idempotency?.(call, contract, () => handler(call));
      if (kept?.isReplayed) {
        const { status: storedStatus, body } = kept;
        if (storedStatus === status) await options.confirmReplay?.(call, body as ReplyOf<C>);
        sendJson(call.req, call.res, {
          status: storedStatus,
          body,
          headers: { ...headers, 'idempotency-replayed': 'true' },
        });
        return;
      }
      const reply = kept?.body ?? (await handler(call));
      if (contextOf(call.req).http.checkReplies) {
        checkReply ??= compile(schema, 'reply');
        checkAgainstContract(contract.id, reply, checkReply);
      }
      // Node ignores what is written to a closed connection.
      sendJson(call.req, call.res, { status, body: reply, headers });
    },
    options,
  );
}

/** Throws a bug when the reply does not match its contract. */
function checkAgainstContract(id: string, reply: unknown, check: Validate): void {
  try {
    // As the client will see it: without fields that JSON leaves out.
    check(JSON.parse(JSON.stringify(reply)));
  } catch (cause) {
    throw new Error(`${id} replied what its contract does not allow`, { cause });
  }
}

/** Mounts an operation whose handler writes the reply itself. What it throws before the first byte is rendered as usual. */
export function mountStream<C extends Contract>(
  router: IRouter,
  contract: C,
  handler: (call: Call<C>) => Promise<void>,
  { authenticate }: Pick<MountOptions, 'authenticate'> = {},
): void {
  const check = readerOf(contract, authenticate);
  const path = contract.path.replaceAll(/\{(\w+)\}/g, ':$1');
  const method = contract.method.toLowerCase() as 'get' | 'post' | 'patch' | 'delete';
  router[method](path, async (req: Request, res: Response) => {
    try {
      const call = await check(req, res);
      await currentCall.run(call, () => handler(call));
    } catch (error) {
      if (contract.scope !== 'none' && isRefusal(error)) await pause(res);
      throw error;
    }
  });
}

/** True when this service refused the caller because of a limit, and nothing failed. */
function isRefusal(error: unknown): boolean {
  return error instanceof Fault && error.code === 'unavailable' && error.cause === undefined;
}

/** Delays a refusal, to slow down a client that ignores Retry-After. */
async function pause(res: Response): Promise<void> {
  const pausing = new AbortController();
  const stop = (): void => pausing.abort();
  res.once('close', stop);
  await sleep(SERVICE_LIMITS.refusalPauseMs, undefined, { signal: pausing.signal, ref: false }).catch(() => undefined);
  res.off('close', stop);
}

function readerOf<C extends Contract>(
  contract: C,
  authenticate?: Authenticate,
): (req: Request, res: Response) => Promise<Call<C>> {
  const checkParams = contract.params && compile(contract.params, 'path');
  const { form, bodyRefusal } = contract;
  const checkQuery = contract.query && compile(contract.query, 'query');
  const integers = integersOf(contract.query);
  const checkBody = form ? undefined : contract.body && compile(contract.body, 'body');
  return async (req, res) => {
    const context = contextOf(req);
    context.route = contract;
    const { principal, caller } = (await authenticate?.(req, res)) ?? whoCalls(req, contract, context.http);
    context.userId = principal.userId || undefined;
    const params = readParams(req, checkParams);
    // A page answers a fault of its query or its form with a page, so its handler reads them.
    const query = contract.page ? EMPTY : readQuery(req, checkQuery, integers);
    let body: unknown;
    if (contract.body !== undefined && !(contract.bodyOptional && !hasBody(req))) {
      const reading = form
        ? readForm(req, contract.bodyBytesMax)
        : readChecked(req, res, { contract, principal, checkBody });
      body = await (bodyRefusal === undefined ? reading : reading.catch(refuseAs(bodyRefusal)));
    }
    return new Call<C>({
      principal,
      caller,
      params: params as ParamsOf<C>,
      query: query as QueryOf<C>,
      body: body as BodyOf<C>,
      req,
      res,
    });
  };
}

interface BodyReading {
  readonly contract: Contract;
  readonly principal: Principal;
  readonly checkBody: Validate | undefined;
}

async function readChecked(
  req: Request,
  res: Response,
  { contract, principal, checkBody }: BodyReading,
): Promise<unknown> {
  const { bodies } = contextOf(req).http;
  const admission = bodies && { bodies, person: principal.userId, signal: () => signalOf(res) };
  const body = await readJson(req, contract.bodyBytesMax, admission);
  checkBody?.(body);
  return body;
}

/** Faults of the text of a body; too large and not received are faults of the message. */
const BODY_FAULTS: readonly ErrorCode[] = [
  'malformed_json',
  'malformed_request',
  'unsupported_media_type',
  'validation_failed',
];

function refuseAs(code: ErrorCode): (failure: unknown) => never {
  return (failure) => {
    if (!(failure instanceof Fault) || !BODY_FAULTS.includes(failure.code)) throw failure;
    throw new Fault(code, { cause: failure, ...(failure.publicMessage ? { message: failure.publicMessage } : {}) });
  };
}

function readParams(req: Request, check: Validate | undefined): unknown {
  check?.(req.params);
  return req.params;
}

/** The parameters of a query that are whole numbers. */
function integersOf(query: JsonSchema | undefined): readonly string[] {
  const properties = Object.entries((query?.['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>);
  return properties.flatMap(([name, { type }]) => (type === 'integer' ? [name] : []));
}

function readQuery(req: Request, check: Validate | undefined, integers: readonly string[]): unknown {
  const start = req.url.indexOf('?');
  if (start === -1 && check === undefined) return EMPTY;
  // 0: no bound on the number of parameters, because more would be dropped silently. The length of the URL is bounded.
  const query = start === -1 ? {} : parseQueryString(req.url.slice(start + 1), '&', '=', { maxKeys: 0 });
  for (const name in query) {
    // Refuses names that other frameworks read as a list or an object, such as `limit[]` or `id[$ne]`.
    if (!PLAIN_NAME.test(name))
      throw new Fault('validation_failed', { message: `query must not have the property "${name.slice(0, 100)}"` });
    const value = query[name];
    if (typeof value !== 'string')
      throw new Fault('validation_failed', { message: `query/${name.slice(0, 100)} must be given once` });
    if (!isStorableText(value))
      throw new Fault('validation_failed', { message: `query/${name.slice(0, 100)} must not contain a NUL character` });
  }
  if (check === undefined) return EMPTY;
  const values: Record<string, unknown> = query;
  for (const name of integers) if (DIGITS.test(query[name] as string)) values[name] = Number(query[name]);
  check(values);
  return values;
}

/** Other texts stay texts, which the schema refuses. */
const DIGITS = new RegExp(COUNT_PATTERN);
const PLAIN_NAME = /^[\w.-]+$/;
const EMPTY = Object.freeze({});
