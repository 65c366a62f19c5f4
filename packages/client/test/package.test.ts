import { build } from 'esbuild';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { WebSocketServer } from 'ws';
import { nodeOf } from './nodes.ts';

const PACKAGE = join(import.meta.dirname, '..');
const CONSUMER = join(import.meta.dirname, 'consumer');
const TSC = join(PACKAGE, '..', '..', 'node_modules', 'typescript', 'bin', 'tsc');
/** The oldest that the package supports; the newest is this one. */
const OLDEST_NODE = '20.20.2';
const FETCH_MS = 180_000;
const run = promisify(execFile);

const SNAPSHOT = [
  { lastSyncId: '5', subscribedSyncGroups: ['g'], schemaHash: '', databaseVersion: 1, epoch: 'e' },
  { __class: 'Task', id: 'x' },
  { type: 'end', rowCount: 1 },
]
  .map((line) => `${JSON.stringify(line)}\n`)
  .join('');

function refusals(body: string): string {
  const { transactions } = JSON.parse(body) as { transactions: { clientTxId: string }[] };
  const results = transactions.map(({ clientTxId }) => ({ clientTxId, success: false, error: 'No such task' }));
  return JSON.stringify({ ok: true, success: false, lastSyncId: '0', results, mutations: [] });
}

/** Accepts no change, has one record, and one frame for each follower. */
async function serve(): Promise<{ readonly baseUrl: string } & Disposable> {
  const server = createServer((req, res) => {
    void text(req).then((body) => res.end(req.url === '/sync/mutate' ? refusals(body) : SNAPSHOT));
  }).listen(0, '127.0.0.1');
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) =>
    socket.once('message', () => {
      socket.send(JSON.stringify({ type: 'subscribed', afterSyncId: '5', groups: ['g'] }));
      socket.send(JSON.stringify({ type: 'delta', packet: { lastSyncId: '6', actions: [] } }));
    }),
  );
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.dispose]: () => {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      server.close();
    },
  };
}

function signedDelivery(): object {
  const key = randomBytes(32);
  const [body, at] = [JSON.stringify({ id: 'evt', type: 'endpoint.test' }), Math.floor(Date.now() / 1000)];
  const signature = `v1,${createHmac('sha256', key).update(`evt.${at}.${body}`).digest('base64')}`;
  const headers = { 'Webhook-Id': 'evt', 'Webhook-Timestamp': String(at), 'Webhook-Signature': signature };
  return { secret: `whsec_${key.toString('base64')}`, headers, body };
}

/** What the program of the consumer prints under this Node. */
async function runProgram(node: string, folder: string): Promise<Record<string, unknown>> {
  using server = await serve();
  const input = { ...server, ws: import.meta.resolve('ws'), delivery: signedDelivery() };
  const { stdout } = await run(node, ['program.mjs', JSON.stringify(input)], { cwd: folder, timeout: 120_000 });
  return JSON.parse(stdout) as Record<string, unknown>;
}

const STRICTEST = ['--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];

/** Compiles the files, and the types of the package, as a strict consumer does. */
async function compile(folder: string, module: string, files: readonly string[], more: readonly string[] = []) {
  const resolution = module === 'nodenext' ? module : 'bundler';
  const lean = ['--skipDefaultLibCheck', '--singleThreaded'];
  const options = ['--ignoreConfig', '--noEmit', '--strict', '--target', 'es2022', '--types', 'node', ...lean];
  const modules = ['--module', module, '--moduleResolution', resolution, '--lib', 'es2023,dom,dom.iterable'];
  const env = { ...process.env, GOGC: 'off' };
  await run(process.execPath, [TSC, ...options, ...modules, ...more, ...files], { cwd: folder, env }).catch(
    (error: unknown) => assert.fail((error as { stdout: string }).stdout),
  );
}

/** Writes the blocks in TypeScript of the documents into files. */
function writeBlocks(folder: string, documents: readonly string[]): string[] {
  return documents.flatMap((document) => {
    const blocks = readFileSync(document, 'utf8').matchAll(/^```ts\n(.*?)^```/gms);
    return [...blocks].map(([, code = ''], at) => {
      const name = `${document.replace(/.*\//, '').replace('.md', '')}-${at}.mts`;
      writeFileSync(join(folder, name), code);
      return name;
    });
  });
}

describe('the packed client, installed into an empty folder without a network', function packed() {
  const folder = mkdtempSync(join(tmpdir(), 'wts-client-'));
  const installed = join(folder, 'node_modules', '@wts', 'client');
  before(async () => {
    const built = join(folder, 'built');
    await run(process.execPath, ['build.ts', built], { cwd: PACKAGE });
    writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    // It packs the folder, and unpacks that.
    await run('npm', ['install', '--install-links', '--offline', '--no-audit', '--no-fund', './built'], {
      cwd: folder,
    });
    rmSync(built, { recursive: true });
    for (const name of readdirSync(CONSUMER)) copyFileSync(join(CONSUMER, name), join(folder, name));
  });
  after(() => rmSync(folder, { recursive: true }));

  it('is compiled code with types, source maps, a README and a licence, and no other package', () => {
    const licence = readFileSync(join(PACKAGE, '..', '..', 'LICENSE'), 'utf8');
    assert.equal(readFileSync(join(installed, 'LICENSE'), 'utf8'), licence);
    assert.deepEqual(readdirSync(join(folder, 'node_modules')).toSorted(), ['.package-lock.json', '@wts']);
    const all = readdirSync(installed, { encoding: 'utf8', recursive: true });
    const files = all.filter((name) => /\.(js|d\.ts|map)$/.test(name));
    assert.deepEqual(all.filter((name) => !files.includes(name)).toSorted(), [
      'LICENSE',
      'README.md',
      'api',
      'local-copy.md',
      'names',
      'package.json',
      'webhooks.md',
    ]);
    for (const file of files) {
      const text = readFileSync(join(installed, file), 'utf8');
      if (file.endsWith('.js'))
        assert.ok(files.includes(`${file}.map`) && files.includes(file.replace('.js', '.d.ts')));
      if (file.endsWith('.map'))
        assert.equal((JSON.parse(text) as { sourcesContent: string[] }).sourcesContent.length, 1);
      else
        for (const [, name = ''] of text.matchAll(/\b(?:from|import)\s*\(?\s*'([^']+)'/g))
          assert.ok(files.includes(join(dirname(file), name)), `${file} imports ${name}`);
    }
  });

  it('has a manifest without a fault that publint knows', async () => {
    const { messages } = await publint({ pkgDir: installed, pack: false, strict: true });
    assert.deepEqual(messages, []);
  });

  const expected = {
    refused: 'No such task',
    event: 'evt',
    platform: ['reset', 'records', 'loaded', 'subscribed', 'delta'],
    other: ['reset', 'records', 'loaded', 'subscribed', 'delta'],
  };

  it(`works in Node ${process.versions.node}`, async () => {
    assert.deepEqual(await runProgram(process.execPath, folder), expected);
  });

  it(`works in Node ${OLDEST_NODE}, and says what that lacks (skipped where npm cannot fetch it)`, async function older() {
    this.timeout(FETCH_MS);
    const node = await nodeOf(OLDEST_NODE);
    if (node === null) return this.skip();
    const advice = 'There is no WebSocket here. Pass openSocket: (url) => new WebSocket(url), of the package "ws".';
    const platform = ['reset', 'records', 'loaded', advice];
    assert.deepEqual(await runProgram(node, folder), { ...expected, platform });
  });

  it('has types for strict consumers of any module system, and its documents have examples that compile', async () => {
    const types = join(folder, 'node_modules', '@types');
    mkdirSync(types);
    for (const name of ['@types/node', '@types/express', '@types/ws', 'express', 'ws']) {
      const target = [PACKAGE, join(PACKAGE, '..', '..')]
        .map((from) => join(from, 'node_modules', name))
        .find(existsSync);
      symlinkSync(target ?? assert.fail(`${name} is not installed`), join(folder, 'node_modules', name));
    }
    const blocks = writeBlocks(
      folder,
      ['README.md', 'local-copy.md', 'webhooks.md'].map((name) => join(installed, name)),
    );
    assert.ok(blocks.length >= 6);
    writeFileSync(join(folder, 'required.cts'), "import client = require('@wts/client');\nclient.SyncClient;\n");
    await compile(folder, 'nodenext', ['types.mts', 'fastify.d.mts', 'required.cts', ...blocks], STRICTEST);
    await compile(folder, 'esnext', ['types.mts']);
  });

  it('is bundled for browsers without what an app does not use', async () => {
    const bundle = async (code: string): Promise<string> => {
      const stdin = { contents: code, resolveDir: folder };
      const target = { platform: 'browser', format: 'esm', minify: true } as const;
      const { outputFiles } = await build({ stdin, bundle: true, write: false, logLevel: 'error', ...target });
      return outputFiles[0]?.text ?? '';
    };
    assert.match(await bundle("import { SyncClient } from '@wts/client'; new SyncClient({});"), /\/sync\/ws/);
    const receiver = await bundle("import { verifyWebhook } from '@wts/client'; verifyWebhook();");
    assert.match(receiver, /whsec_/);
    assert.doesNotMatch(receiver, /\/sync\//);
    const names = await bundle("import { Names } from '@wts/client/names'; new Names({});");
    assert.match(names, /myWorkspaces/);
    assert.doesNotMatch(names, /\/sync\/|whsec_/);
    const api = await bundle("import { createApiClient } from '@wts/client/api'; createApiClient({});");
    assert.match(api, /\/api\/webhooks/);
    assert.doesNotMatch(api, /\/sync\/|whsec_|Not blank|clamped/);
    assert.equal(await bundle("import '@wts/client';"), '');
  });
});
