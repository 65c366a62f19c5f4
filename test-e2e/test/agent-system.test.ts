import { eventually, sendRequest, type TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { GENERATIONS, ok, refused } from './agent-clients.ts';
import { sharedSystem } from './shared-system.ts';

interface Tool {
  readonly name: string;
  readonly inputSchema: { readonly properties?: object };
}

describe('the agent endpoint as a part of the system', () => {
  let system: TestSystem;
  before(async () => (system = await sharedSystem()));

  it('answers other methods with 405 and Allow in the common shape [agent.http.post-only]', async () => {
    for (const method of ['GET', 'DELETE', 'PUT', 'PATCH']) {
      const reply = await sendRequest({ baseUrl: system.authUrl, token: system.apiKey }, method, '/mcp');
      assert.equal(reply.status, 405, method);
      assert.match(reply.headers['allow'] ?? '', /POST/);
      assert.equal((reply.json() as { code: string }).code, 'method_not_allowed');
    }
  });

  it('tells clients of 2026-07-28 how long each list holds, and that it is of one person [agent.lists.cache]', async () => {
    for (const method of [
      'server/discover',
      'tools/list',
      'prompts/list',
      'resources/list',
      'resources/templates/list',
    ]) {
      const { result } = await message(system, method);
      assert.equal(typeof result['ttlMs'], 'number', method);
      assert.equal(result['cacheScope'], 'private', method);
    }
  });

  it('never fails because of input [never.500-by-input]', async () => {
    const { tools } = (await message(system, 'tools/list')).result as { tools: Tool[] };
    const texts = ['', `%\\'; drop table tasks; --\u202e${'𝒳'.repeat(200)}`, '-1', '9'.repeat(200)];
    // A value of another type is refused by its type, whatever it is, so one of them is enough.
    const valuesOf = (schema: unknown): unknown[] => {
      const { type } = schema as { type?: string };
      if (type === 'string') return [...texts, {}];
      if (type === 'integer') return ['x', -1, 1e308];
      return type === 'boolean' ? ['x'] : ['x', [], ['x'], [{}]];
    };
    for (const { name, inputSchema } of tools) {
      const fields = Object.entries(inputSchema.properties ?? {});
      const bodies = fields.flatMap(([field, schema]) =>
        valuesOf(schema).map((value) => ({ ...validOf(name), [field]: value })),
      );
      for (const args of [...bodies, { constructor: 1 }, { toString: 'x' }]) {
        const { result } = await message(system, 'tools/call', { name, arguments: args }, { 'mcp-name': name });
        const text = (result['content'] as { text: string }[])[0]?.text ?? assert.fail(JSON.stringify(result));
        assert.doesNotMatch(text, /^(?:internal|unavailable|deadline_exceeded):/, `${name} ${JSON.stringify(args)}`);
      }
    }
    const broken = String.raw`[] null 1 "x" { {"jsonrpc":"2.0"} {"a":"\ud800"} {"a":"\u0000"} [{}]`;
    for (const body of ['', ...broken.split(' ')]) {
      const reply = await post(system, body);
      assert.ok(reply.status >= 400 && reply.status < 500, `${body}: ${reply.status} ${reply.text}`);
    }
  });

  it('keeps nothing between two messages: a client does not notice a new process [agent.protocol.stateless]', async () => {
    const clients = await Promise.all(
      Object.values(GENERATIONS).map((connect) => connect(system.authUrl, system.apiKey)),
    );
    await system.service('agent').restart();
    for (const agent of clients) {
      await eventually(async () => ok(await agent.call('whoami')));
      await agent[Symbol.asyncDispose]();
    }
  });

  it('announces no notifications, and ends a subscription at once [agent.protocol.stateless]', async () => {
    for (const connect of Object.values(GENERATIONS)) {
      await using agent = await connect(system.authUrl, system.apiKey);
      const silent = { listChanged: false };
      assert.deepEqual(agent.client.getServerCapabilities(), { tools: silent, prompts: silent, resources: silent });
    }
    const notifications = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
    const frames = await send(system, 'subscriptions/listen', { notifications });
    assert.match(frames, /^data: .*"notifications\/subscriptions\/acknowledged","params":\{"notifications":\{\}/m);
    assert.match(frames, /^data: .*"resultType":"complete"/m);
  });

  it('says when to try again while the graph service is down [agent.errors.outage]', async () => {
    await using agent = await GENERATIONS['SDK 1 (2025)'](system.authUrl, system.apiKey);
    await system.service('graph').stop();
    try {
      for (const [tool, args] of [
        ['whoami', {}],
        ['create_tasks', { tasks: [{ title: 'x' }] }],
      ] as const) {
        refused(await agent.call(tool, args), /^unavailable: .*Retry after \d+ seconds.*Request id: [\w-]+/);
      }
    } finally {
      await system.service('graph').start();
      await system.untilReady();
    }
    await eventually(async () => ok(await agent.call('whoami')));
  });
});

function validOf(tool: string): object {
  switch (tool) {
    case 'get_task':
    case 'list_comments':
      return { task: '1' };
    case 'add_comment':
      return { task: '1', body: 'x' };
    case 'create_tasks':
      return { tasks: [{ title: 'x' }] };
    case 'update_tasks':
      return { tasks: [{ task: '999999', title: 'x' }] };
    case 'complete_tasks':
    case 'reopen_tasks':
    case 'archive_tasks':
    case 'restore_tasks':
      return { tasks: ['999999'] };
    case 'create_project':
      return { name: 'x', key: 'HOSTILE' };
    case 'update_project':
      return { project: 'HOSTILE', name: 'x' };
    case 'search':
      return { query: 'x' };
    default:
      return {};
  }
}

const HEADERS_2026 = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2026-07-28',
};

function post(system: TestSystem, body: string, headers: object = {}): ReturnType<typeof sendRequest> {
  const content = { body, headers: { ...HEADERS_2026, ...headers } };
  return sendRequest({ baseUrl: system.authUrl, token: system.apiKey }, 'POST', '/mcp', content);
}

/** A message of the revision 2026-07-28, as it is on the wire. */
async function message(
  system: TestSystem,
  method: string,
  params: object = {},
  headers: object = {},
): Promise<{ result: Record<string, unknown> }> {
  return JSON.parse(await send(system, method, params, headers)) as { result: Record<string, unknown> };
}

async function send(system: TestSystem, method: string, params: object, headers: object = {}): Promise<string> {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } });
  const { status, text } = await post(system, body, { 'mcp-method': method, ...headers });
  assert.equal(status, 200, text);
  return text;
}
