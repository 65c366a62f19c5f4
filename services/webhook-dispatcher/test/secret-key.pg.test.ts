import { parseSecretKeys } from '@wts/service-kit/sealing';
import { eventually } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { maintainTablesOnce } from '../src/table-maintenance.ts';
import { KEY_TEXT, LaneSystem } from './lane-system.ts';
import { quiet } from './quiet.ts';

describe('WEBHOOK_SECRET_KEY', () => {
  it('changes in three steps, while each replica of a step and of the next one signs with the same secret [secrets.sealed]', async () => {
    await using system = await LaneSystem.open('secret-key');
    const consumer = await system.receiver();
    const id = await system.endpoint(`${consumer.url}/hook`);
    const next = randomBytes(32).toString('base64');
    const secrets: Buffer[] = [];
    const deliver = async (text: string): Promise<void> => {
      const keys = parseSecretKeys(text);
      const before = secrets.length;
      await using lanes = system.lanes({
        keys,
        send: async (attempt) => {
          secrets.push(...attempt.secrets);
          return {
            startedAt: new Date(),
            durationMs: 1,
            statusCode: 204,
            error: null,
            snippet: null,
            retryAfterMs: null,
          };
        },
      });
      await system.enqueue(id);
      lanes.wake([id]);
      await eventually(() => secrets.length > before);
      await system.untilAll(id, 'succeeded');
    };
    const maintain = (text: string): Promise<void> =>
      maintainTablesOnce({ pool: system.pool, logger: quiet, secretKeys: parseSecretKeys(text) });
    const keyIds = async (): Promise<object[]> =>
      (await system.pool.query<{ key_id: string }>('select key_id from webhooks.secrets')).rows;

    const steps = [KEY_TEXT, `${KEY_TEXT},${next}`, `${next},${KEY_TEXT}`, next] as const;
    for (const [index, step] of steps.entries()) {
      await deliver(step);
      await maintain(step);
      // A replica that does not have this step yet.
      if (index > 0 && step !== next) await deliver(steps[index - 1] ?? '');
    }
    assert.equal(new Set(secrets.map((secret) => secret.toString('hex'))).size, 1);
    assert.deepEqual(await keyIds(), [{ key_id: parseSecretKeys(next).current.id }]);
    await system.addSecret(id);
    await maintain(next);
    assert.equal((await keyIds()).length, 2, 'what is sealed with an unknown key stays, and stops nothing');
  });
});
