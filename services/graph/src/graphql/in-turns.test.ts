import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Contention, LoopTurns } from '@wts/service-kit/fairness';
import { GraphQLInt, GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLSchema, graphql } from 'graphql';
import type { RequestContext } from './request-context.ts';
import { inTurns } from './in-turns.ts';

const RECORDS = 2_000;

/** A list that is handed out in many turns, whose records have `n` by `numberOf`. */
async function ask(
  numberOf: (n: number) => unknown,
  signal = AbortSignal.any([]),
  list: readonly unknown[] = Array.from({ length: RECORDS }, (_, n) => n),
): Promise<Awaited<ReturnType<typeof graphql>>> {
  const context = {
    charge: { cost: { objects: RECORDS } },
    turns: new LoopTurns(new Contention(), 1_000),
    reads: { handOut: () => ({ [Symbol.dispose]: () => undefined }) },
    principal: { userId: 'ann' },
    signal,
  } as unknown as RequestContext;
  const record = new GraphQLObjectType<number>({
    name: 'Record',
    fields: { n: { type: new GraphQLNonNull(GraphQLInt), resolve: (n) => numberOf(n) } },
  });
  const records = {
    type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(record))),
    resolve: (_source: unknown, _given: unknown, _context: unknown, info: Parameters<typeof inTurns>[2]) =>
      inTurns(list, context, info),
  };
  const query = new GraphQLObjectType({ name: 'Query', fields: { records } });
  return graphql({ schema: new GraphQLSchema({ query }), source: '{ records { n } }' });
}

describe('records that are handed out in turns [graphql.limit.loop]', () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  before(() => process.on('unhandledRejection', note));
  after(() => process.off('unhandledRejection', note));

  it('are all in the answer, in their order', async () => {
    const { data, errors } = await ask((n) => n);
    assert.equal(errors, undefined);
    const { records } = data as { records: { n: number }[] };
    assert.deepEqual(
      records.map(({ n }) => n),
      Array.from({ length: RECORDS }, (_, n) => n),
    );
  });

  it('end their operation and not the process when some fail while others wait, or when the request ends', async () => {
    const failing = await ask(async (n) => {
      await nextTurn();
      if (n % 100 === 0) throw new Error(`no ${n}`);
      return n;
    });
    assert.match(String(failing.errors?.[0]?.message), /^no \d+$/);
    const ended = new AbortController();
    const cut = await ask((n) => {
      if (n === 500) ended.abort(new Error('the request has ended'));
      return n % 2 === 0 ? n : Promise.reject(new Error(`no ${n}`));
    }, ended.signal);
    assert.ok(cut.errors);
    // As of `nodes(ids)`: some fail before their turn, and the others when the operation waits for them no more.
    const refused = Promise.withResolvers<number>();
    const promised = Array.from({ length: RECORDS }, (_, n) =>
      n < 1_000 ? n : n === 1_500 ? Promise.reject(new Error('no id')) : refused.promise,
    );
    const late = ask((n) => n, ended.signal, promised);
    await nextTurn();
    refused.reject(new Error('too late'));
    assert.ok((await late).errors);
    await nextTurn();
    assert.deepEqual(unhandled, []);
  });
});
