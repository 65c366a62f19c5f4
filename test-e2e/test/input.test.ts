import type { ErrorBody, Workspace } from '@wts/contracts';
import type { Person, Reply, TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Description, type ApiOperation } from '../fuzz/description.ts';
import { idsIn, ACCESS_RULES, type WorkspaceIds } from './access-rules.ts';
import { sharedSystem } from './shared-system.ts';

interface Answer extends Reply {
  readonly code: string | undefined;
}

/** Bodies that parsers read differently, or that contain text which cannot be stored. */
const BAD_BODIES: Readonly<Record<string, string | Buffer>> = {
  nothing: '',
  'half of JSON': '{',
  'more than JSON': '{}x',
  null: 'null',
  'a number': '1',
  'a list': '[]',
  'lists 20 000 deep': '['.repeat(20_000),
  'objects 20 000 deep': '{"a":'.repeat(20_000),
  'a key twice': '{"name":"a","name":"b"}',
  'a prototype': '{"__proto__":{"polluted":1}}',
  'a prototype by its constructor': '{"constructor":{"prototype":{"polluted":1}}}',
  'a NUL': '{"name":"\\u0000"}',
  'half a surrogate pair': '{"name":"\\ud800"}',
  'bytes that are no UTF-8': Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
  'a byte order mark': '\uFEFF{}',
  'a number beyond all': '{"name":1e400}',
};
/** An operation that ignores unknown fields of its body. */
const IGNORES_UNKNOWN_FIELDS = 'syncBootstrapPost';

describe('input of the public API', () => {
  let testSystem: TestSystem;
  let ann: Person;
  let operations: readonly ApiOperation[];
  before(async () => {
    testSystem = await sharedSystem();
    ann = await testSystem.member('Ann', 'owner');
    operations = new Description((await testSystem.request(null, 'GET', '/openapi.json')).json()).operations;
  });

  async function request(
    method: string,
    path: string,
    body?: object | string | Buffer,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const answer = await testSystem.request(ann.token, method, path, { body, headers: { ...type, ...headers } });
    return { ...answer, code: answer.status >= 400 ? (answer.json() as ErrorBody).code : undefined };
  }

  const ids = (): WorkspaceIds => idsIn(testSystem);

  it('that is an ambiguous or broken body gets 400 from every operation with a body [errors.400.json, errors.400.bad-text, never.500-by-input]', async () => {
    const taking = operations.filter(({ body }) => body !== null);
    assert.ok(taking.length >= 7);
    for (const { id, method, body: described } of taking) {
      const path = ACCESS_RULES[id]?.path(ids()) ?? '';
      const fine = [
        // An optional body may be empty.
        ...(described?.required === true ? [] : ['nothing']),
        ...(id === IGNORES_UNKNOWN_FIELDS ? ['a prototype', 'a prototype by its constructor'] : []),
      ];
      for (const [what, body] of Object.entries(BAD_BODIES)) {
        const { status, text } = await request(method, path, body);
        const isFine = fine.includes(what);
        assert.equal(isFine ? status < 300 : status === 400, true, `${id}, ${what}: ${status} ${text.slice(0, 300)}`);
        assert.ok(!text.includes('polluted'));
      }
    }
  });

  it('that is a number is read exactly, also a large one, or refused [sync.deltas.after-exclusive, sync.deltas.limit-clamped, errors.400.validation]', async () => {
    const head = (JSON.parse((await request('GET', '/sync/deltas')).text) as { lastSyncId: string }).lastSyncId;
    for (const wrong of ['-1', '+1', '1e3', ' 1', '1 ', '0x1', '1.0', '', 'NaN', '9'.repeat(19), '9'.repeat(25)]) {
      assert.equal((await request('GET', `/sync/deltas?after=${encodeURIComponent(wrong)}`)).status, 400, wrong);
      const requests = [{ modelName: 'Task', groupId: testSystem.workspaceId }];
      assert.equal((await request('POST', '/sync/batch', { requests, firstSyncId: wrong })).status, 400, wrong);
    }
    // Above 2^53, where a float cannot represent every integer.
    for (const beyond of ['9007199254740993', '9223372036854775807'])
      assert.equal((await request('GET', `/sync/deltas?after=${beyond}`)).code, 'bootstrap_required');
    assert.equal((await request('GET', `/sync/deltas?after=${head.padStart(19, '0')}`)).status, 200);
    for (const limit of ['abc', '-1', '1.5', '1e2', '', '1'.repeat(65)])
      assert.equal((await request('GET', `/sync/deltas?limit=${limit}`)).status, 400, limit);
    for (const limit of ['0', '1', '99999', '1'.repeat(10), '9'.repeat(64)])
      assert.equal((await request('GET', `/sync/deltas?limit=${limit}`)).status, 200, limit);
    for (const limit of [0, 366, 1.5, '7', 1e308]) {
      const path = `/api/workspaces/${testSystem.workspaceId}/invitations`;
      assert.equal((await request('POST', path, { expiresInDays: limit })).status, 400, String(limit));
    }
  });

  it('that is repeated in a query, or has the form of a list or an object, is refused [errors.400.bad-text]', async () => {
    for (const path of [
      '/sync/deltas?limit=25&limit=5',
      '/sync/deltas?limit[]=5',
      '/sync/deltas?after[$gt]=0',
      '/sync/deltas?__proto__[x]=1',
      '/sync/bootstrap?onlyModels=Task&onlyModels=User',
      '/sync/bootstrap?syncGroups[]=x',
      '/api/auth/keys?workspaceId[$ne]=',
      `/api/auth/keys?workspaceId=${testSystem.workspaceId}&workspaceId=${testSystem.workspaceId}`,
      '/api/auth/keys?workspaceId=',
    ]) {
      assert.equal((await request('GET', path)).code, 'validation_failed', path);
    }
  });

  it('that is a name is stored unchanged in any script, and its length is counted in code points [limits.workspace.name, workspaces.create.name]', async () => {
    const names = [
      '\u202Eright to left\u202C',
      'zero\u200Bwidth\u200D\uFEFF',
      'e\u0301 is not \u00E9',
      'tab\there, line\nthere, bell\u0007',
      '🏳️‍🌈'.repeat(16),
      '𝒲'.repeat(100),
      `<script>alert(1)</script>"'&; drop table workspaces;--`,
      '‮ً̎\u0085\u2028',
    ];
    for (const name of names) {
      const urlKey = `n-${randomUUID().slice(0, 18)}`;
      const made = await request('POST', '/api/workspaces', { name, urlKey });
      assert.equal(made.status, 201, made.text);
      const read = await request('GET', `/api/workspaces/by-slug/${urlKey}`);
      assert.equal((JSON.parse(read.text) as { workspace: Workspace }).workspace.name, name);
    }
    const urlKey = `n-${randomUUID().slice(0, 18)}`;
    assert.equal((await request('POST', '/api/workspaces', { name: '𝒲'.repeat(101), urlKey })).status, 400);
  });

  it('is never copied into a response header', async () => {
    const mark = `mark${randomUUID().slice(0, 8)}`;
    const broken = `${mark}\r\nSet-Cookie: ${mark}=1`;
    const answers = [
      await request('POST', '/api/workspaces', {
        name: broken,
        urlKey: `${mark}-1`,
        logoUrl: `https://a.test/${mark}`,
      }),
      await request('POST', '/api/workspaces', { name: 'x', urlKey: `${mark}-2`, logoUrl: `https://a.test/${broken}` }),
      await request('POST', '/api/auth/keys', { label: broken }),
      await request('GET', `/api/workspaces/by-slug/${mark}`),
      await request('GET', `/sync/bootstrap?schemaHash=${encodeURIComponent(broken)}`),
      await request('GET', `/${mark}?${mark}=${encodeURIComponent(broken)}`),
      await request('GET', '/health', undefined, { 'x-request-id': `${mark} with blanks` }),
      await request('GET', '/health', undefined, { 'api-version': mark }),
      await request('GET', '/api/workspaces', undefined, { authorization: `Bearer ${mark}` }),
      await request('GET', '/sync/deltas', undefined, { origin: `https://${mark}.test` }),
      await request('POST', '/api/auth/keys', { label: 'x' }, { 'idempotency-key': mark }),
    ];
    for (const { headers } of answers) assert.ok(!JSON.stringify(headers).includes(mark), JSON.stringify(headers));
    // The exception, which accepts plain characters only.
    const { headers } = await request('GET', '/health', undefined, { 'x-request-id': mark });
    assert.equal(headers['x-request-id'], mark);
  });
});
