import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { ACTION_LETTERS } from './actions.ts';
import { contractsOf, errorsOf } from './contract.ts';
import { ERRORS } from './errors.ts';
import { FRAMES, SOCKET_ERRORS } from './sync/frames.ts';
import * as syncApi from './sync.ts';
import { PROTOCOL_VERSION } from './version.ts';

/** Every version that was released: its hash, and what changed for clients. Lines are added and never edited. */
const HISTORY: readonly { readonly hash: string; readonly change: string }[] = [
  {
    hash: '10b90a63cdd3ac6f137a852f594c016bc93ac2daf33dd168c8b9f49edba5e55d',
    change: 'the first version that is pinned',
  },
  {
    hash: 'bab67b587a3d901d84161b398a51875546ac3de279873bff6b5f28293254404a',
    change: 'credentials of people without a required second factor are refused with `second_factor_required`',
  },
];

/** What only people read; and the order of members means nothing in JSON. */
const PROSE = new Set(['description', 'summary', 'example', 'examples', 'bodyExample', 'bodyExamples', 'tag', 'when']);

/** What published clients depend on: the public sync operations, the frames, and the errors of both. */
function protocol(): object {
  const operations = contractsOf(syncApi)
    .filter(({ internal }) => internal === undefined)
    // Which services call an operation too is nothing that clients see.
    .map(({ callers: _callers, ...operation }) => ({ ...operation, errors: errorsOf(operation).toSorted() }))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const socketErrors = Object.keys(SOCKET_ERRORS).toSorted();
  const codes = new Set<string>([...operations.flatMap((operation) => operation.errors), ...socketErrors]);
  const errors = Object.fromEntries(Object.entries(ERRORS).filter(([code]) => codes.has(code)));
  return { operations, frames: FRAMES, errors, socketErrors, letters: ACTION_LETTERS };
}

function hashOf(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(canonical(value)))
    .digest('hex');
}

function canonical(value: unknown, isNames = false): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => canonical(item));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  // The keys of `properties` are names of fields, one of which may be called `description`.
  const kept = isNames ? members : members.filter(([name]) => !PROSE.has(name));
  return Object.fromEntries(kept.map(([name, inner]) => [name, canonical(inner, name === 'properties')]));
}

describe('the protocol of clients', () => {
  it('changes only together with a new PROTOCOL_VERSION and a line of history', () => {
    const hash = hashOf(protocol());
    const pinned = HISTORY.at(-1)?.hash;
    assert.equal(
      hash,
      pinned,
      `What clients speak has changed. When that is meant: raise PROTOCOL_VERSION in packages/contracts/src/version.ts to ${HISTORY.length + 1}, and add { hash: '${hash}', change: '...' } at the end of HISTORY in protocol.test.ts. A published client must still understand the server: only optional fields may come, and nothing may go.`,
    );
  });

  it('has one line of history for each version, with different hashes', () => {
    assert.equal(HISTORY.length, PROTOCOL_VERSION);
    assert.equal(new Set(HISTORY.map(({ hash }) => hash)).size, HISTORY.length);
  });

  it('has another hash when a field, a frame, an error or a bound changes, and the same when only texts change', () => {
    const base = { frames: FRAMES, errors: ERRORS };
    const [first, ...others] = FRAMES;
    const planted = [
      { ...base, frames: others },
      { ...base, frames: [{ ...first, schema: { ...first?.schema, required: ['type'] } }, ...others] },
      { ...base, errors: { ...ERRORS, later: { status: 400 } } },
      { ...base, errors: { ...ERRORS, not_found: { ...ERRORS.not_found, status: 410 } } },
    ];
    for (const changed of planted) assert.notEqual(hashOf(changed), hashOf(base));
    const reworded = [{ ...first, description: 'In other words.', example: {} }, ...others];
    assert.equal(hashOf({ ...base, frames: reworded }), hashOf(base));
    const field = { type: 'object', properties: { description: { type: 'string' } } };
    assert.notEqual(hashOf(field), hashOf({ type: 'object', properties: {} }));
  });
});
