import { orderedJson } from '@wts/contracts';
import { createHash, randomUUID } from 'node:crypto';
import { ToolError } from '../tool-error.ts';

/** The name of this service in the log of changes. */
export const CLIENT_ID = 'agent';

/**
 * The names of the changes of one call: of its tool, its key and what the caller asked for; new ones without a key. A call that
 * repeats only some items therefore gets the results of these, and a different item is a new change. Equal items are counted.
 */
export function namesOfChanges(
  tool: string,
  idempotencyKey: string | undefined,
  asked: readonly unknown[],
): (index: number) => string {
  const key = idempotencyKey ?? randomUUID();
  const counts = new Map<string, number>();
  const names = asked.map((one) => {
    const digest = createHash('sha256').update(orderedJson(one)).digest('base64url');
    const hash = digest.slice(0, HASH_CHARS);
    const count = counts.get(hash) ?? 0;
    counts.set(hash, count + 1);
    return `${tool}:${key}:${hash}.${count}`;
  });
  return (index) => names[index] as string;
}

/** Enough to distinguish the items of one key: a name has at most 128 characters. */
const HASH_CHARS = 8;

/** What every payload of a mutation has. */
export interface Payload {
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** The record of a payload. Throws a ToolError when the change was refused. */
export function resultOf<Node>(payload: Payload | undefined, record: Node | null): Node {
  if (record !== null && payload?.error === null) return record;
  if (payload?.error) throw new ToolError(payload.error.code.toLowerCase(), payload.error.message);
  const message =
    'A call with this idempotencyKey was done before, and its record does not exist any more. Use a new key.';
  throw new ToolError('conflict', message);
}
