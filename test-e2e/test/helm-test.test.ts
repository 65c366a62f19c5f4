import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { receiver } from '@wts/testkit';
import { openShared } from './shared-system.ts';

const SCRIPT = join(import.meta.dirname, '../../infra/chart/helm-test/smoke.ts');

/** The script that a pod of the chart runs. */
describe('helm test', () => {
  const run = async (variables: Record<string, string>): Promise<string> => {
    const { testSystem } = await openShared();
    const env = { ...process.env, API_URL: testSystem.baseUrl, ...variables };
    return (await promisify(execFile)(process.execPath, [SCRIPT], { env })).stdout;
  };

  it('makes a change, receives one on a socket and has a webhook attempted, whatever its receiver answers', async () => {
    const { testSystem, authority } = await openShared();
    const { token } = await testSystem.person('Operator');
    await testSystem.request(token, 'POST', '/api/workspaces', { body: { name: 'Test', urlKey: 'helm-test' } });
    await using consumer = await receiver({ identity: await authority.issue() });
    consumer.answer({ status: 405 });
    const printed = await run({ API_KEY: token, WEBHOOK_URL: consumer.url });
    assert.match(printed, /^ok: a change .*\nok: a socket .*\nok: a webhook was attempted, and .* answered 405\n$/);
    const left = await testSystem.request(token, 'GET', '/api/workspaces');
    const [workspace] = (left.json() as { workspaces: { id: string }[] }).workspaces;
    const webhooks = await testSystem.request(token, 'GET', `/api/webhooks?workspaceId=${workspace?.id}`);
    assert.deepEqual((webhooks.json() as { endpoints: object[] }).endpoints, []);
  });

  it('fails with a sentence for a key that is refused', () =>
    assert.rejects(run({ API_KEY: 'wts_wrong' }), ({ stderr }: { stderr: string }) => {
      assert.match(stderr, /^FAILED: Error: GET \/api\/workspaces answered 401: /);
      return true;
    }));
});
