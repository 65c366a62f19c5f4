import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runWts } from '../../test/test-run.ts';

describe('a service that is none, or of another version,', () => {
  let answer: object = {};
  const server = createServer((_, response) => response.end(JSON.stringify(answer)));
  let env: Readonly<Record<string, string>>;
  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    env = { WTS_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, WTS_TOKEN: 'wts_x' };
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const ended = async (argv: readonly string[], given: object): Promise<{ code: number; err: string }> => {
    answer = given;
    const { code, err } = await runWts(argv, { env });
    return { code, err };
  };

  it('is named in one sentence by every command that reads its answer', async () => {
    for (const [line, given] of [
      ['whoami', {}],
      ['whoami', { data: {} }],
      ['task list', { data: {} }],
      ['task add x', []],
      ['workspace list', {}],
      ['workspace list', { ok: true }],
      ['api-key list', null],
      ['webhook list -w acme', {}],
      ['watch', {}],
    ] as const) {
      const { code, err } = await ended(line.split(' '), given as object);
      assert.equal(code, 1, `${line}: ${err}`);
      assert.match(
        err,
        /The answer of http:\S+ is not understood: it may be no Workspace Task Service, or one of/,
        line,
      );
    }
  });

  it('is named where it does not know what this program asks for, but not for a document of the person', async () => {
    const message = 'Cannot query field "repeatText" on type "Task".';
    const unknown = { errors: [{ message, extensions: { code: 'VALIDATION_FAILED' } }] };
    const { code, err } = await ended(['task', 'list'], unknown);
    assert.equal(code, 1);
    assert.match(
      err,
      /^The service does not understand this wts .*"repeatText".*\nIt may be of another version: wts doctor/,
    );
    assert.deepEqual(await ended(['graphql', '{ repeatText }'], unknown), { code: 2, err: `${message}\n` });
  });
});
