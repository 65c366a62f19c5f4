import type { Standby } from '@wts/read-model';
import { FairGate } from '@wts/service-kit/fairness';
import assert from 'node:assert/strict';
import { Pool } from 'pg';
import { Answers } from '../src/domain/answer-bytes.ts';
import { Reads } from '../src/queries/reads.ts';
import { Statements } from '../src/store/statements.ts';
import { Records } from './records.ts';

describe('reading', () => {
  let records: Records;
  let me: string;
  let home: string;
  before(async () => {
    records = await Records.open('graph-reads');
    me = await records.person('Ada');
    home = await records.workspace('Platform', me);
  });
  after(() => records[Symbol.asyncDispose]());

  it('goes from records to records, both ways [graphql.schema.derived]', async () => {
    const project = await records.project(home, me, { name: 'Storage' });
    const label = await records.one({ model: 'Label', values: { workspaceId: home, name: 'bug' } });
    const links = { projectId: project, labelIds: [label.id], assigneeId: me, creatorId: me };
    const task = await records.one({ model: 'Task', values: { workspaceId: home, title: 'Move', ...links } });
    await records.one({ model: 'Comment', values: { workspaceId: home, taskId: task.id, authorId: me, body: 'Done' } });
    const { viewer } = await records.data<{ viewer: object }>(
      me,
      `{ viewer { assignedTasks { nodes { title project { name tasks { nodes { id } } } labels { nodes { name tasks { totalCount } } }
           comments { totalCount nodes { body author { name } task { workspace { name } } } } } } } }`,
    );
    assert.deepEqual(viewer, {
      assignedTasks: {
        nodes: [
          {
            title: 'Move',
            project: { name: 'Storage', tasks: { nodes: [{ id: task.id }] } },
            labels: { nodes: [{ name: 'bug', tasks: { totalCount: 1 } }] },
            comments: {
              totalCount: 1,
              nodes: [{ body: 'Done', author: { name: 'Ada' }, task: { workspace: { name: 'Platform' } } }],
            },
          },
        ],
      },
    });
  });

  it('charges the workspaces of the caller when they are read, as many as there are [graphql.limit.cost]', async () => {
    const person = await records.person();
    for (const name of ['A', 'B']) await records.workspace(name, person);
    const query = '{ myWorkspaces { id tasks(first: 100) { nodes { comments(first: 40) { nodes { id } } } } } }';
    assert.equal((await records.data<{ myWorkspaces: object[] }>(person, query)).myWorkspaces.length, 2);
    await records.workspace('C', person);
    const { data, errors } = await records.ask(person, query);
    assert.deepEqual([data, errors.map(({ extensions }) => extensions['code'])], [null, ['COMPLEXITY_LIMIT_EXCEEDED']]);
    assert.match(errors[0]?.message ?? '', /up to 12303 records.*myWorkspaces\.tasks\.comments/);
  });

  it('refuses on a replica by its bounds, without a second try on the primary [never.one-takes-all]', async () => {
    const { sources, pool } = records;
    const replica = new Pool({ connectionString: records.database.urlOf('wts_graph'), max: 1 });
    const gateOf = (slots: number): FairGate =>
      new FairGate({ slots, waitMs: 60_000, waitingMax: 0, refusal: 'Too many queries' });
    const [free, taken] = [gateOf(8), gateOf(1)];
    using _slot = await taken.enter(me);
    const reads = new Reads(
      {
        ...sources,
        standby: { poolFor: () => Promise.resolve(replica) } as unknown as Standby,
        statements: new Statements([
          { pool, cancelPool: pool, gate: free },
          { pool: replica, cancelPool: pool, gate: taken },
        ]),
      },
      {
        principal: { userId: me, scopes: ['read'], credential: { kind: 'jwt', id: 'test' } },
        requestId: 'test',
        signal: new AbortController().signal,
        bytes: new Answers().open(me),
      },
    );
    try {
      await assert.rejects(reads.ownWorkspaces(), { code: 'unavailable' });
    } finally {
      await replica.end();
    }
  });
});
