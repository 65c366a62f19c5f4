import { syncApi, type InternalMutation } from '@wts/contracts';
import { commitUnitSender, createServiceClient, type ServiceClient } from '@wts/service-kit/call';
import { createLogger } from '@wts/service-kit/observe';
import { openPostgres } from '@wts/service-kit/postgres';
import { compile } from '@wts/service-kit/routes';
import { callOperation, minterFor, openBackends, type Backends } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { openCellDirectory, type AskedCell } from '../src/directory/cell-directory.ts';
import { PersonCopies } from '../src/directory/person-copies.ts';
import { NEXT_STEP, type MoveStep } from '../src/domain/move-steps.ts';
import { STEPS } from '../src/moves/steps.ts';
import { cellStore } from '../src/store/cells.ts';
import type { MovePlace, StoredMove } from '../src/store/moves.ts';
import { personCellStore } from '../src/store/person-cells.ts';
import { openTestService, SERVICE } from './test-service.ts';

const log = createLogger({ name: 'test', level: 'silent' });
const NOWHERE = ['http://127.0.0.1:1'];
/** Of services that do not run here: `cells.test.ts` of test-e2e repeats them. */
const OTHERS: readonly MoveStep[] = ['stop', 'invitations', 'endpoints', 'leave'];

describe('a move of a workspace', () => {
  const stack = new AsyncDisposableStack();
  let backends: readonly [Backends, Backends];
  let cells: readonly [AskedCell, AskedCell];
  let context: Parameters<(typeof STEPS)['copy']>[0];
  before(async () => {
    const [{ backends: first }, second] = await Promise.all([
      openTestService(),
      openBackends({ label: 'move-to', role: 'wts_auth' }),
    ]);
    backends = [first, stack.use(second)];
    const client = (name: 'sync' | 'workspace', urls: readonly string[]): ServiceClient => {
      const made = createServiceClient({ name, urls, self: 'auth', mintToken: minterFor('auth', name), log });
      return stack.adopt(made, (open) => open.close());
    };
    const cell = ({ syncUrl }: Backends, shard: number): AskedCell => {
      const sync = client('sync', [syncUrl]);
      const services = { sync, workspace: client('workspace', NOWHERE), dispatcher: null };
      const baseUrl = `https://cell${shard}.example`;
      return { ...openCellDirectory(sync), ...services, commitUnit: commitUnitSender(sync), shard, baseUrl };
    };
    cells = [cell(backends[0], 0), cell(backends[1], 1)];
    const url = backends[0].databaseUrl;
    const { knex } = openPostgres({ url, poolMax: 2, applicationName: 'test', log, stack });
    const copies = new PersonCopies(cells, personCellStore(knex));
    context = { source: cells[0], target: cells[1], copies, workspaceCells: cellStore(knex) };
  });
  after(() => stack.disposeAsync());

  const commit = async (shard: 0 | 1, mutations: readonly InternalMutation[]): Promise<number> => {
    const unit = {
      clientId: 'test',
      clientTxId: randomUUID(),
      authority: 'service',
      mutations: [...mutations],
    } as const;
    const called = { url: backends[shard].syncUrl, name: 'sync', compile } as const;
    return (await callOperation(called, SERVICE, syncApi.internalCommit, { body: unit })).status;
  };
  const insert = (
    modelName: string,
    payload: InternalMutation['payload'],
    modelId = randomUUID(),
  ): InternalMutation => ({ modelName, modelId, action: 'INSERT', payload });

  it('goes on after a crash before the end of each step was stored: nothing is lost, nothing is done twice [cells.move.equal, cells.move.one-writer]', async () => {
    const [userId, workspaceId] = [randomUUID(), randomUUID()];
    const own = { workspaceId };
    const titles: string[] = [];
    const change = async (shard: 0 | 1, title: string, more: readonly InternalMutation[] = []): Promise<boolean> => {
      const isAccepted = (await commit(shard, [...more, insert('Task', { ...own, title })])) === 200;
      if (isAccepted) titles.push(title);
      return isAccepted;
    };
    const owner = insert('User', { name: 'Ada' }, userId);
    const workspace = insert('Workspace', { name: 'Acme', urlKey: `w-${randomUUID()}` }, workspaceId);
    const membership = insert('WorkspaceMember', { ...own, userId, role: 'owner' });
    const projectId = randomUUID();
    const project = insert('Project', { ...own, key: 'PRIV', name: 'Project', isPrivate: true }, projectId);
    const projectMember = insert('ProjectMember', { projectId, userId });
    assert.ok(await change(0, 'first', [owner, workspace, membership, project, projectMember]));
    // More than a page, so a step has several runs.
    for (let part = 0; part < 2; part += 1) {
      const some = Array.from({ length: 70 }, (_, n) => `${part} ${n}`);
      assert.equal(
        await commit(
          0,
          some.map((title) => insert('Task', { ...own, title })),
        ),
        200,
      );
      titles.push(...some);
    }

    const accepted: [MoveStep, boolean, boolean][] = [];
    let at: MovePlace = {};
    for (let step: MoveStep | null = 'arrive'; step !== null;) {
      if (!OTHERS.includes(step)) {
        const move: StoredMove = { ...MOVE, workspaceId, step, at };
        await STEPS[step](context, move);
        // A membership that is missing in the end is put by the next run, whichever page it is on.
        if (step === 'members')
          await backends[1].sqlAs('wts_sync')('delete from sync.project_members where project_id = $1', [projectId]);
        accepted.push([step, await change(0, `before ${step}`), await change(1, `there ${step}`)]);
        const run = await STEPS[step](context, move);
        at = run.at;
        if (!run.isDone) continue;
      }
      step = NEXT_STEP[step];
    }
    assert.ok(accepted.every(([, here, there]) => !(here && there)));
    assert.deepEqual(
      [accepted.findLast(([, here]) => here)?.[0], accepted.find(([, , there]) => there)?.[0]],
      ['follow', 'open'],
    );
    const stored = await backends[1].sqlAs('wts_sync')(
      `select record->>'title' as title, number from sync.tasks where workspace_id = $1`,
      [workspaceId],
    );
    assert.deepEqual(stored.map(({ title }) => String(title)).toSorted(), titles.toSorted());
    assert.equal(new Set(stored.map(({ number }) => number)).size, titles.length);

    const moved = { workspaceId, state: 'moved', baseUrl: cells[1].baseUrl } as const;
    for (let again = 0; again < 2; again += 1)
      await cells[0].sync.call(syncApi.internalSetMoving, { principal: SERVICE, body: moved });
    assert.deepEqual([await change(0, 'late'), await change(1, 'there')], [false, true]);
    const members = `select from sync.workspace_members where workspace_id = $1`;
    const left = await Promise.all(
      backends.map(async ({ sqlAs }) => (await sqlAs('wts_sync')(members, [workspaceId])).length),
    );
    assert.deepEqual(left, [0, 1]);
  });
});

const MOVE = {
  id: randomUUID(),
  name: 'Acme',
  urlKey: 'acme',
  source: 0,
  target: 1,
  records: 0,
  isCancelled: false,
  problem: null,
  createdAt: new Date(),
  endedAt: null,
  heldMs: 0,
};
