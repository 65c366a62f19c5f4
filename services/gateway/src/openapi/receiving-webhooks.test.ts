import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { RECEIVING_WEBHOOKS } from './receiving-webhooks.ts';

const key = randomBytes(32);
const body = JSON.stringify({ id: 'evt', type: 'task.created', data: { object: { title: 'Ärger' } } });
const now = Math.floor(Date.now() / 1000);

function delivery(at: number, signed: string, by = key): object {
  const signature = `v1,${createHmac('sha256', by).update(`evt.${at}.${signed}`).digest('base64')}`;
  const other = `v1,${randomBytes(32).toString('base64')}`;
  return { 'webhook-id': 'evt', 'webhook-timestamp': String(at), 'webhook-signature': `${other} ${signature}` };
}

describe('the section about receiving webhooks', () => {
  it('verifies in Python what the service signs, and nothing else', function python() {
    if (spawnSync('python3', ['--version']).status !== 0) this.skip();
    const example = RECEIVING_WEBHOOKS.split('\n').filter((line) => line === '' || line.startsWith('    '));
    const code = `if True:\n${example.join('\n')}
    import json, sys
    given = json.loads(sys.stdin.buffer.read())
    print(json.dumps([is_genuine(given["secret"], headers, given["body"].encode()) for headers in given["deliveries"]]))`;
    const deliveries = [
      delivery(now, body),
      delivery(now - 400, body),
      delivery(now, `${body} `),
      delivery(now, body, randomBytes(32)),
    ];
    const input = JSON.stringify({ secret: `whsec_${key.toString('base64')}`, body, deliveries });
    const { stdout, stderr } = spawnSync('python3', ['-c', code], { input, encoding: 'utf8', timeout: 60_000 });
    assert.deepEqual(JSON.parse(stdout || stderr), [true, false, false, false]);
  });
});
