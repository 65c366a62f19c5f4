import { freePort, type TestSystem } from '@wts/testkit';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { NOT_TESTABLE, reasonToSkip, RUN } from './conformance-scenarios.ts';
import { Person } from './person.ts';

const MANIFEST = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/package.json'));
const PROGRAM = join(dirname(MANIFEST), 'dist/index.js');

interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
}

type Print = (line: string) => void;

/**
 * Runs the conformance tool of the Model Context Protocol: its scenarios for servers against the agent endpoint, with this
 * access token, and those for authorization servers. Returns what failed.
 */
export async function runConformance(system: TestSystem, accessToken: string, print: Print): Promise<string[]> {
  const { version } = JSON.parse(await readFile(MANIFEST, 'utf8')) as { version: string };
  print(`Conformance tool ${version}`);
  await using proxy = await openProxy(system.authUrl, accessToken);
  const problems: string[] = [];
  const skipped = new Map<string, string[]>();
  for (const { name, revisions } of await scenarios('--server')) {
    const reason = reasonToSkip(name);
    if (reason !== undefined) skipped.set(reason, [...(skipped.get(reason) ?? []), name]);
    else if (!RUN.includes(name)) problems.push(`${name}: neither run nor skipped; add it to conformance-scenarios.ts`);
    else
      for (const revision of revisions) {
        const options = ['server', '--url', `${proxy.url}/mcp`, '--scenario', name, '--spec-version', revision];
        problems.push(...report(`${revision}  ${name}`, await runTool(options), print));
      }
  }
  problems.push(...report('authorization server', await runAuthorization(system), print));
  for (const [reason, names] of skipped) print(`  not run, because ${reason}: ${names.join(', ')}`);
  const clients = await scenarios('--client');
  print(`  not run, because nothing here is an MCP client: the ${clients.length} scenarios for clients`);
  return problems;
}

function report(name: string, { checks, output }: ToolResult, print: Print): string[] {
  const count = (status: Check['status']): number => checks.filter((check) => check.status === status).length;
  const failed = checks.filter(({ status }) => status === 'FAILURE');
  const notTestable = failed.filter(({ id }) => id in NOT_TESTABLE);
  const broken = failed.filter((check) => !notTestable.includes(check));
  const rest = [`${count('SUCCESS')} passed`, `${broken.length} failed`, `${count('WARNING')} warnings`].join(', ');
  print(`  ${name}: ${rest}${notTestable.map(({ id }) => `\n    not testable: ${id} ${NOT_TESTABLE[id]}`).join('')}`);
  if (checks.length === 0) return [`${name}: no result\n${output}`];
  return broken.map(({ id, errorMessage }) => `${name}: ${id}: ${errorMessage}`);
}

async function scenarios(side: '--server' | '--client'): Promise<{ name: string; revisions: string[] }[]> {
  const { output } = await runTool(['list', side]);
  return [...output.matchAll(/^ {2}- (\S+) \[([^\]]*)\]$/gm)].map(([, name = '', revisions = '']) => ({
    name,
    revisions: revisions.split(','),
  }));
}

/** The tool prints an address, to which the owner of the demo workspace goes as with a browser. */
async function runAuthorization({ authUrl, account }: TestSystem): Promise<ToolResult> {
  const port = await freePort();
  const response = await fetch(`${authUrl}/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: 'Conformance',
      redirect_uris: [`http://127.0.0.1:${port}/callback`],
      token_endpoint_auth_method: 'none',
    }),
  });
  const { client_id: clientId } = (await response.json()) as { client_id: string };
  const person = new Person(authUrl, account);
  const options = ['--url', authUrl, '--client-id', clientId, '--resource', `${authUrl}/mcp`, '--port', String(port)];
  let isAsked = false;
  // The whole line, because the output may end in the middle of the address.
  return runTool(['authorization', ...options], async (output) => {
    const asked = /^http\S+\/authorize\?\S+(?=\r?\n)/m.exec(output)?.[0];
    if (asked === undefined || isAsked) return;
    isAsked = true;
    await fetch(await person.allow(new URL(asked)));
  });
}

interface ToolResult {
  readonly checks: readonly Check[];
  readonly output: string;
}

async function runTool(
  options: readonly string[],
  onOutput: (all: string) => Promise<void> = async () => {},
): Promise<ToolResult> {
  const results = await mkdtemp(join(tmpdir(), 'wts-conformance-'));
  try {
    const saved = options[0] === 'list' ? [] : ['--output-dir', results];
    const child = spawn(process.execPath, [PROGRAM, ...options, ...saved], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const steps: Promise<void>[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        steps.push(onOutput(output));
      });
    }
    await once(child, 'close');
    await Promise.all(steps);
    const names = (await readdir(results, { recursive: true })).filter((name) => name.endsWith('checks.json'));
    const files = await Promise.all(names.map((name) => readFile(join(results, name), 'utf8')));
    return { checks: files.flatMap((text) => JSON.parse(text) as Check[]), output };
  } finally {
    await rm(results, { recursive: true });
  }
}

interface HeaderProxy extends AsyncDisposable {
  readonly url: string;
}

/** The tool cannot send a credential, so this proxy adds it. */
async function openProxy(target: string, accessToken: string): Promise<HeaderProxy> {
  const server = createServer((req, res) => {
    const headers = { ...req.headers, authorization: `Bearer ${accessToken}` };
    const forwarded = request(new URL(req.url ?? '', target), { method: req.method, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      void pipeline(answer, res).catch(() => res.destroy());
    });
    void pipeline(req, forwarded).catch(() => res.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
