import { FairGate } from '@wts/service-kit/fairness';
import { eventually, testDatabase, type TestDatabase } from '@wts/testkit';
import assert from 'node:assert/strict';
import { Pool } from 'pg';
import { Answers, type AnswerBytes } from '../domain/answer-bytes.ts';
import { personWith } from '../../test/test-graph.ts';
import { Statements } from './statements.ts';
import { GRAPH_LIMITS } from '../limits.ts';

const MIB = 1024 * 1024;

describe('the statements of a request', () => {
  let database: TestDatabase;
  let pool: Pool;
  let cancelPool: Pool;
  let statements: Statements;
  const principal = personWith('read');

  before(async () => {
    database = await testDatabase('graph-statements');
    [pool, cancelPool] = [2, 1].map((max) => new Pool({ connectionString: database.url, max })) as [Pool, Pool];
    // A connection that is closed reports it here too, as in `openPostgres`.
    pool.on('connect', (client) => client.on('error', () => undefined));
    const gate = new FairGate({ slots: 2, waitMs: 60_000, waitingMax: 100, refusal: 'Too much' });
    statements = new Statements([{ pool, cancelPool, gate }]);
  });
  after(async () => {
    await Promise.all([pool.end(), cancelPool.end()]);
    await database.drop();
  });

  const { signal } = new AbortController();
  const sizeOf = async (bytes: AnswerBytes, mebibytes: number, { isText = true } = {}): Promise<number | undefined> => {
    const query = {
      text: `select repeat('x', $1::int) as text`,
      values: [mebibytes * MIB],
      isPlannedByValues: false,
      isText,
    };
    return (await statements.rows<{ text: string }>({ principal, signal, bytes }, pool, query))[0]?.text.length;
  };

  it('read a bounded number of bytes together, and others go on [graphql.limit.bytes]', async () => {
    assert.equal(GRAPH_LIMITS.readBytesMax, 32 * MIB);
    const answers = new Answers({ bytesMax: 1024 * MIB });
    const open = (): AnswerBytes => answers.open(principal.userId);
    const first = open();
    assert.equal(await sizeOf(first, 17), 17 * MIB);
    const code = { extensions: { code: 'COMPLEXITY_LIMIT_EXCEEDED' } };
    await assert.rejects(sizeOf(first, 17), code);
    // The row alone is within the bound; with the messages around it, in its last bytes, it is not.
    await assert.rejects(sizeOf(open(), 32 - 20 / MIB), code);
    assert.equal(await sizeOf(open(), 1), MIB);
    const parallel = open();
    const sizes = await Promise.allSettled([0, 1].map(() => sizeOf(parallel, 17)));
    const refusal = sizes.find((size) => size.status === 'rejected') ?? assert.fail('both are read');
    assert.throws(() => {
      throw refusal.reason;
    }, code);
    await assert.rejects(sizeOf(open(), 9, { isText: false }), code);
    assert.equal(await sizeOf(open(), 7, { isText: false }), 7 * MIB);
  });

  it('end in PostgreSQL when the request ends, and its connection serves others [graphql.limit.deadline]', async () => {
    const ending = new AbortController();
    const sleep = { text: `select pg_sleep(60), 'sleeping'`, values: [], isPlannedByValues: false };
    const sleeping = [0, 1, 2].map(() =>
      statements.rows({ principal, signal: ending.signal, bytes: new Answers().open('a') }, pool, sleep),
    );
    const outcomes = Promise.allSettled(sleeping);
    const active = async (): Promise<number> =>
      (
        await cancelPool.query(
          `select 1 from pg_stat_activity where query like '%''sleeping''' and state = 'active' and datname = current_database()`,
        )
      ).rows.length;
    await eventually(async () => (await active()) === 2);
    const reason = new Error('over');
    ending.abort(reason);
    for (const outcome of await outcomes) assert.equal(outcome.status === 'rejected' && outcome.reason, reason);
    await eventually(async () => (await active()) === 0);
    assert.equal(await sizeOf(new Answers().open('a'), 1), MIB);
  });
});
