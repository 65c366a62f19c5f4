import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import type { Contract, Principal } from '@wts/contracts';
import { ERRORS, errorBody, Fault, IDEMPOTENCY_KEY_PATTERN, LIMITS, orderedJson, uuidOfDigest } from '@wts/contracts';
import type { Request } from 'express';
import type { Claim, IdempotencyStore } from '../postgres/idempotency-keys.ts';
import { deriveKey, seal, unseal } from '../sealing/sealing.ts';
import type { Call } from './call.ts';
import { toFault } from '../http/answer.ts';
import { SERVICE_LIMITS } from '../limits.ts';

export interface IdempotentReply {
  readonly status: number;
  readonly body: unknown;
  readonly isReplayed: boolean;
}

/** Runs the work of a request at most once per key; null when the request has no key. */
export type Idempotency = <C extends Contract>(
  call: Call<C>,
  contract: C,
  work: () => Promise<unknown>,
) => Promise<IdempotentReply | null>;

/**
 * `Idempotency-Key`: a client that lost a reply repeats the request with the same key and gets that reply, without a second effect.
 * A key belongs to a credential (to the person for session tokens, which change) and an operation, and is stored for a day. Bodies
 * are stored sealed with AES-256-GCM, because some contain a secret that is shown once; keys and fingerprints are stored as HMACs.
 * Both secrets are derived from REPLAY_SECRET, so a copy of the table alone reveals nothing; while one secret replaces another,
 * replies under either are found. Errors that may not recur (429, 5xx, 401) are not stored.
 * Keeps idempotency.in-flight, idempotency.mismatch, idempotency.replay, idempotency.retryable, idempotency.rotation,
 * idempotency.scope, idempotency.secrets.
 */
export function idempotency(store: IdempotencyStore, [secret, ...others]: readonly [string, ...string[]]): Idempotency {
  const { sealing, naming } = derivedFrom(secret);
  const otherSecrets = others.map(derivedFrom);
  return async (call, contract, work) => {
    const given = readKey(call.req);
    if (given === null) return null;
    const name = [holderOf(call.principal), contract.id, given];
    const content = [call.params, call.query, call.body];
    const key = digest(naming, name);
    const fingerprint = digest(naming, content);
    for (const other of otherSecrets) {
      const otherKey = digest(other.naming, name);
      const found = await store.find(otherKey);
      if (found !== null) return replyOf(found, digest(other.naming, content), otherKey, other.sealing);
    }
    const logFailure = failureLogger(call);
    const owner = randomBytes(16).toString('hex');
    const claim = await store.claim(key, { owner, fingerprint, leaseMs: SERVICE_LIMITS.idempotencyLeaseMs });
    if (claim.state !== 'won') return replyOf(claim, fingerprint, key, sealing);
    // The client will repeat the request for its reply, so a lost connection must not stop the work.
    call.outliveClient();
    call.effectId = uuidOfDigest(
      digest(naming, ['effect', key.toString('hex'), fingerprint.toString('hex')]).toString('hex'),
    );
    const keep = (status: number, body: unknown): Promise<void> =>
      logFailure(
        store.keep(key, owner, { status, body: seal(sealing, key, JSON.stringify(body)) }, LIMITS.idempotencyKeptMs),
      );
    let body: unknown;
    try {
      body = await work();
    } catch (failure) {
      const fault = toFault(failure);
      await (isFinal(fault)
        ? keep(fault.status, errorBody(fault, call.requestId))
        : logFailure(store.release(key, owner)));
      throw failure;
    }
    const { status } = contract.reply;
    await keep(status, body);
    return { status, body, isReplayed: false };
  };
}

/** What a `Call` has of it. */
export interface EffectSource {
  readonly effectId?: string | undefined;
}

/**
 * Ids for a new row, to be tried in order. A repeated request finds by the first id what it already created. The second id is for
 * an `Idempotency-Key` of an earlier day, whose row has the first id.
 */
export function newIds({ effectId }: EffectSource): string[] {
  return effectId === undefined ? [randomUUID()] : [effectId, randomUUID()];
}

/**
 * Logs a failure to store a reply; the caller still gets the reply. An error, or a released key, would make the client repeat the
 * effect; the lease expires by itself.
 */
function failureLogger({ log }: Pick<Call, 'log'>): (writing: Promise<void>) => Promise<void> {
  return async (writing) => {
    try {
      await writing;
    } catch (err) {
      log.warn({ err }, 'the reply of an Idempotency-Key could not be stored');
    }
  };
}

function replyOf(
  claim: Exclude<Claim, { state: 'won' }>,
  fingerprint: Buffer,
  key: Buffer,
  sealing: Buffer,
): IdempotentReply {
  if (!claim.fingerprint.equals(fingerprint)) throw new Fault('idempotency_mismatch');
  if (claim.state === 'running') throw new Fault('idempotency_in_flight', { retryAfterSeconds: 1 });
  const { status, body } = claim.answer;
  return { status, body: JSON.parse(unseal(sealing, key, body)), isReplayed: true };
}

/** True when the same request would get the same reply again. */
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
  return createHmac('sha256', naming).update(orderedJson(value)).digest();
}
