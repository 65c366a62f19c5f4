import { createHmac, randomBytes } from 'node:crypto';
import type { Contract, Principal } from '@wts/contracts';
import { ERRORS, errorBody, Fault, IDEMPOTENCY_KEY_PATTERN, LIMITS } from '@wts/contracts';
import type { Request } from 'express';
import { deriveKey, seal, unseal } from './sealing.ts';
import type { Call } from './call.ts';
import { toFault } from '../http/answer.ts';

/** The answer a key stands for. */
export interface StoredReply {
  readonly status: number;
  /** Sealed; see `idempotency`. */
  readonly body: Buffer;
}

/** What is known of a key: mine to work on, still worked on by another request, or answered. */
export type Claim =
  | { readonly state: 'won' }
  | { readonly state: 'running'; readonly fingerprint: Buffer }
  | { readonly state: 'answered'; readonly fingerprint: Buffer; readonly answer: StoredReply };

/** Where answers are kept; every replica of a service must use the same one. */
export interface IdempotencyStore {
  /** Of several at once, one wins. A claim that is neither kept nor released is free again after `leaseMs`. */
  claim(key: Buffer, claim: { owner: string; fingerprint: Buffer; leaseMs: number }): Promise<Claim>;
  /** What is known of a key, without claiming it; null for nothing. */
  find(key: Buffer): Promise<Exclude<Claim, { state: 'won' }> | null>;
  /** Does nothing when the claim has passed to somebody else meanwhile. */
  keep(key: Buffer, owner: string, answer: StoredReply, keptMs: number): Promise<void>;
  release(key: Buffer, owner: string): Promise<void>;
}

export interface Outcome {
  readonly status: number;
  readonly body: unknown;
  readonly isReplayed: boolean;
}

/** Runs the work of a request at most once per key; null when the request names no key. */
export type Idempotency = <C extends Contract>(
  call: Call<C>,
  contract: C,
  work: () => Promise<unknown>,
) => Promise<Outcome | null>;

/**
 * `Idempotency-Key`: who loses an answer asks again with the same key and is given that answer, instead of a second
 * effect. A key belongs to a credential (to the person, for signed-in ones: their tokens change) and an operation, and
 * lives for a day. Bodies are kept sealed with AES-256-GCM, because some hold a secret that is shown once; keys and
 * fingerprints are kept as HMACs. Both secrets are derived from the secret of the cluster, so a copy of the table alone
 * tells nothing; while one secret replaces another, what was kept under the other is found as well. What may succeed later (429, 5xx) and what says nothing about the request (401) is not kept.
 * Keeps idempotency.in-flight, idempotency.mismatch, idempotency.replay, idempotency.retryable, idempotency.scope,
 * idempotency.secrets.
 */
export function idempotency(store: IdempotencyStore, [secret, ...others]: readonly [string, ...string[]]): Idempotency {
  const { sealing, naming } = derivedFrom(secret);
  const elsewhere = others.map(derivedFrom);
  return async (call, contract, work) => {
    const given = readKey(call.req);
    if (given === null) return null;
    const name = [holderOf(call.principal), contract.id, given];
    const content = [call.params, call.query, call.body];
    const key = digest(naming, name);
    const fingerprint = digest(naming, content);
    for (const other of elsewhere) {
      const otherKey = digest(other.naming, name);
      const known = await store.find(otherKey);
      if (known !== null) return answerOf(known, digest(other.naming, content), otherKey, other.sealing);
    }
    const settle = settler(call);
    const owner = randomBytes(16).toString('hex');
    const claim = await store.claim(key, { owner, fingerprint, leaseMs: LIMITS.idempotencyLeaseMs });
    if (claim.state !== 'won') return answerOf(claim, fingerprint, key, sealing);
    // Whoever sends a key comes back for the answer: a lost connection must not stop half-way what they will ask for.
    call.outliveClient();
    call.effectId = uuidOf(digest(naming, ['effect', key.toString('hex'), fingerprint.toString('hex')]));
    const keep = (status: number, body: unknown): Promise<void> =>
      settle(
        store.keep(key, owner, { status, body: seal(sealing, key, JSON.stringify(body)) }, LIMITS.idempotencyKeptMs),
      );
    let body: unknown;
    try {
      body = await work();
    } catch (failure) {
      const fault = toFault(failure);
      await (isFinal(fault) ? keep(fault.status, errorBody(fault, call.requestId)) : settle(store.release(key, owner)));
      throw failure;
    }
    const { status } = contract.reply;
    await keep(status, body);
    return { status, body, isReplayed: false };
  };
}

/**
 * What was done is done: when that cannot be written down, the caller is still told so. To say that it failed, or to free
 * the key, would make it happen twice; the lease ends by itself.
 */
function settler({ log }: Pick<Call, 'log'>): (writing: Promise<void>) => Promise<void> {
  return async (writing) => {
    try {
      await writing;
    } catch (err) {
      log.warn({ err }, 'what an Idempotency-Key stands for could not be written');
    }
  };
}

function answerOf(claim: Exclude<Claim, { state: 'won' }>, fingerprint: Buffer, key: Buffer, sealing: Buffer): Outcome {
  if (!claim.fingerprint.equals(fingerprint)) throw new Fault('idempotency_mismatch');
  if (claim.state === 'running') throw new Fault('idempotency_in_flight', { retryAfterSeconds: 1 });
  const { status, body } = claim.answer;
  return { status, body: JSON.parse(unseal(sealing, key, body)), isReplayed: true };
}

/** True when asking again, unchanged, would be answered alike. */
function isFinal({ code, status }: Fault): boolean {
  const { retryable = false } = ERRORS[code] as { retryable?: true };
  return !retryable && status < 500 && status !== 401;
}

const WELL_FORMED = new RegExp(IDEMPOTENCY_KEY_PATTERN);

function readKey({ headersDistinct }: Request): string | null {
  const given = headersDistinct['idempotency-key'];
  if (given === undefined) return null;
  const [key = ''] = given;
  if (given.length === 1 && WELL_FORMED.test(key)) return key;
  throw new Fault('validation_failed', {
    message: 'Idempotency-Key must be given once, with 1 to 255 printable ASCII characters.',
  });
}

function holderOf({ userId, credential }: Principal): string {
  return credential.kind === 'jwt' ? `person ${userId}` : `${credential.kind} ${credential.id}`;
}

function derivedFrom(secret: string): { readonly sealing: Buffer; readonly naming: Buffer } {
  return { sealing: deriveKey(secret, 'idempotency seal'), naming: deriveKey(secret, 'idempotency name') };
}

function digest(naming: Buffer, value: readonly unknown[]): Buffer {
  return createHmac('sha256', naming).update(JSON.stringify(value, inOrder)).digest();
}

/** The fields of an object have no order: clients that keep theirs in hash tables write the same request differently. */
function inOrder(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Version 8 of RFC 9562: a UUID of our own making. */
function uuidOf(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return parts.join('-');
}
