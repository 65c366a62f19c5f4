import { runWts } from '@wts/cli/test-run';
import { SyncClient } from '@wts/client';
import { eventually, scratch, sendRequest, startTestSystem } from '@wts/testkit';
import type { Person, Reply, RequestContent, TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

interface Listed {
  readonly workspaces: readonly { readonly id: string; readonly urlKey: string; readonly baseUrl?: string }[];
  readonly elsewhere?: readonly string[];
}

describe('two cells with one auth', function cells() {
  this.timeout(90_000);
  let testSystem: TestSystem;
  let ann: Person;

  before(async () => {
    testSystem = await startTestSystem({ label: 'cells', secondCell: true, services: [] });
    ann = await testSystem.person('Ann');
    // Once the directory has listed the first cell.
    await eventually(async () => (await create(0, ann, `c-${randomUUID().slice(0, 8)}`)).status === 201);
  });
  after(() => testSystem.close());

  const urlOf = (cell: 0 | 1): string => (cell === 0 ? testSystem.baseUrl : testSystem.secondCell.baseUrl);
  const call = (cell: 0 | 1, token: string, request: string, content?: RequestContent): Promise<Reply> => {
    const [method = '', path = ''] = request.split(' ');
    return sendRequest({ baseUrl: urlOf(cell), token }, method, path, content);
  };
  const create = (cell: 0 | 1, { token }: Person, urlKey: string): Promise<Reply> =>
    call(cell, token, 'POST /api/workspaces', { body: { name: urlKey, urlKey } });
  const created = async (cell: 0 | 1, person: Person): Promise<{ id: string; urlKey: string }> => {
    const reply = await create(cell, person, `c-${randomUUID().slice(0, 8)}`);
    assert.equal(reply.status, 201, reply.text);
    return (reply.json() as { workspace: { id: string; urlKey: string } }).workspace;
  };
  const listAt = async (cell: 0 | 1, { token }: Person): Promise<Listed> =>
    (await call(cell, token, 'GET /api/workspaces')).json() as Listed;
  it('take a urlKey once, and each list names the other [workspaces.create.taken, workspaces.list.elsewhere]', async () => {
    const [here, there] = [await created(0, ann), await created(1, ann)];
    for (const cell of [0, 1] as const) {
      for (const { urlKey } of [here, there]) assert.equal((await create(cell, ann, urlKey)).status, 409);
      const { workspaces, elsewhere } = await listAt(cell, ann);
      assert.ok(workspaces.every(({ baseUrl }) => baseUrl === urlOf(cell)));
      assert.deepEqual(elsewhere, [urlOf(cell === 0 ? 1 : 0)]);
      assert.ok(workspaces.some(({ id }) => id === (cell === 0 ? here : there).id));
      assert.ok(!workspaces.some(({ id }) => id === (cell === 0 ? there : here).id));
    }
    const bob = await testSystem.person('Bob');
    assert.deepEqual(await listAt(0, bob), { ok: true, workspaces: [], elsewhere: [] });
  });

  it('a cell that is away fails nothing of the other: people work, sign in, list, make keys and see who has access [workspaces.list.elsewhere]', async () => {
    const { id: workspaceId, urlKey } = await created(0, ann);
    for (const name of ['gateway', 'workspace', 'sync']) await testSystem.secondCell.service(name).kill();
    await new SyncClient({ baseUrl: urlOf(0), token: ann.token }).mutateOrThrow([
      { modelName: 'Task', modelId: randomUUID(), action: 'INSERT', payload: { workspaceId, title: 'Meanwhile' } },
    ]);
    const { workspaces, elsewhere } = await listAt(0, ann);
    assert.ok(workspaces.some(({ id }) => id === workspaceId));
    assert.deepEqual(elsewhere, [urlOf(1)]);
    const eve = await testSystem.person('Eve');
    assert.equal((await call(0, eve.token, 'GET /api/workspaces')).status, 200);
    assert.equal((await call(0, ann.token, 'POST /api/auth/keys', { body: { label: 'ci' } })).status, 201);
    assert.equal((await call(0, ann.token, `GET /api/workspaces/${workspaceId}/access`)).status, 200);
    const env = { WTS_URL: urlOf(0), WTS_TOKEN: ann.token, NO_COLOR: '1', WTS_CONFIG_DIR: scratch('cells-cli') };
    const { out, err } = await runWts(['workspace', 'list'], { env });
    assert.match(out, new RegExp(`${urlKey}\\s.*${urlOf(0)}`));
    assert.match(err, new RegExp(`No answer from ${urlOf(1)}`));
  });
});
