import type { Principal } from '@wts/contracts';
import { eventually } from '@wts/testkit';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Records } from './records.ts';
import { personWith, TestGraph, type GraphAnswer } from './test-graph.ts';

/** 100 tasks with 48 KB each, so many times. */
const times = (count: number): string =>
  `{ ${Array.from({ length: count }, (_, at) => `a${at}: tasks(first: 100) { nodes { description } }`).join(' ')} }`;
/** 28 MiB, which is more than the buffers of a connection hold. */
const LARGE = times(6);

describe('answers that their clients do not read', () => {
  let graph: TestGraph;
  let records: Records;
  let greedy: Principal;
  const sockets: Socket[] = [];

  before(async () => {
    graph = await TestGraph.open('graph-unread');
    records = new Records(graph.database);
    const userId = await records.person();
    greedy = { ...personWith('read'), userId };
    const home = await records.workspace('Long', userId);
    const values = { workspaceId: home, creatorId: userId, title: 'Long', description: 'x'.repeat(48 * 1024) };
    await records.store(Array.from({ length: 100 }, () => ({ model: 'Task', values })));
  });
  after(async () => {
    for (const socket of sockets) socket.destroy();
    await Promise.all([records.pool.end(), records.sync.end()]);
    await graph[Symbol.asyncDispose]();
  });

  /** Sends a request, reads the beginning of the answer, and nothing more. */
  const beginOf = async (query: string): Promise<string> => {
    const { hostname, port } = new URL(graph.service.url);
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    const body = JSON.stringify({ query });
    const headers = { host: hostname, 'content-type': 'application/json', 'content-length': body.length };
    const lines = Object.entries({ ...headers, ...graph.headersOf(greedy) }).map(
      ([name, value]) => `${name}: ${value}`,
    );
    socket.write(`POST /graphql HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
    const [begin] = (await once(socket, 'data')) as [Buffer];
    socket.pause();
    return begin.toString('latin1');
  };
  it('take a bounded part of the memory for one person, and others are served [graphql.limit.answers]', async () => {
    const begins: string[] = [];
    for (let at = 0; at < 4; at += 1) begins.push(await beginOf(LARGE));
    const served = begins.filter((begin) => begin.startsWith('HTTP/1.1 200 '));
    const refused = begins.filter((begin) => begin.startsWith('HTTP/1.1 503 '));
    assert.deepEqual([served.length, refused.length], [2, 2], begins.map((begin) => begin.slice(0, 20)).join());
    for (const begin of refused) {
      assert.match(begin, /^retry-after: \d+\r$/im);
      assert.match(begin, /"code":"unavailable".*answers are waiting for you to read them/);
    }
    // A small answer of the same person needs nearly nothing, and that of another person is not affected.
    const small = await graph.query('{ tasks(first: 1) { nodes { title } } }', { principal: greedy });
    assert.deepEqual(small.body, { data: { tasks: { nodes: [{ title: 'Long' }] } } });
    const other = await graph.query('{ tasks { totalCount } }', { principal: personWith('read') });
    assert.deepEqual(other.body, { data: { tasks: { totalCount: 0 } } });
  });

  it('are dropped when their clients disconnect, and the person is served again [graphql.limit.answers]', async () => {
    // Beyond what the two answers above leave of this person's part.
    const third = times(3);
    assert.equal((await graph.query(third, { principal: greedy })).status, 503);
    for (const socket of sockets.splice(0)) socket.destroy();
    let whole: GraphAnswer | undefined;
    await eventually(async () => {
      whole = await graph.query(third, { principal: greedy });
      return whole.status === 200;
    });
    const { nodes } = (whole?.body.data?.['a2'] ?? { nodes: [] }) as { nodes: { description: string }[] };
    assert.deepEqual([nodes.length, nodes[99]?.description.length], [100, 48 * 1024]);
  });
});
