import type { Call } from '../call.ts';
import { CliFault } from '../fault.ts';
import type { View } from '../output/view.ts';
import { faultOf } from '../session/fault-of.ts';
import { openFetch } from '../session/fetch.ts';
import { durationText } from '../output/times.ts';
import { openSession } from '../session/session.ts';
import { findServer, readAddress } from '../session/server.ts';
import { readSettings } from '../session/settings.ts';
import { VERSION } from '../version.ts';

interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'failed';
  readonly text: string;
}

const MARKS = { ok: '✓', warning: '!', failed: '✗' } as const;
const COLORS = { ok: 'green', warning: 'yellow', failed: 'red' } as const;

const VIEW: View<Finding> = {
  nouns: ['check', 'checks'],
  id: ({ check }) => check,
  columns: [
    { title: '', value: ({ state }) => state, shown: ({ state }) => MARKS[state], style: ({ state }) => COLORS[state] },
    { title: 'CHECK', value: ({ check }) => check },
    { title: 'FOUND', value: ({ text }) => text },
  ],
};

/** Signatures of webhooks and expiring tokens bear five minutes, sign-ins less. */
const SKEW_MS = 30_000;
const CERTIFICATE_DAYS = 14;
const DAY_MS = 86_400_000;

type Check = (call: Call) => Promise<Omit<Finding, 'check'>>;

/** What stands between this machine and the service. Each check runs, whatever the others find, but without settings none of the service. */
const CHECKS: Readonly<Record<string, Check>> = {
  version: async () => ({ state: 'ok', text: `wts ${VERSION} on Node ${process.versions.node}` }),
  proxy: checkProxy,
  settings: checkSettings,
  service: checkService,
  'sign-in page': checkAuthOrigin,
  clock: checkClock,
  certificate: checkCertificate,
  credential: checkCredential,
  access: checkAccess,
};

export async function doctor(call: Call): Promise<void> {
  const findings: Finding[] = [];
  for (const [check, run] of Object.entries(CHECKS)) {
    const found = await run(call).catch((error: unknown) => ({
      state: 'failed' as const,
      text: faultOf(error).message,
    }));
    findings.push({ check, ...found });
    if (check === 'settings' && found.state === 'failed') break;
  }
  await call.output.list(findings, VIEW);
  const failed = findings.filter(({ state }) => state === 'failed').map(({ check }) => check);
  if (failed.length > 0) throw new CliFault('failed', `Not in order: ${failed.join(', ')}.`, { code: 'doctor' });
}

async function checkSettings({ io, options }: Call): Promise<Omit<Finding, 'check'>> {
  const { url, profile, workspace } = await readSettings(io, options);
  if (url === null) return { state: 'failed', text: 'no service is chosen: wts login https://api.example.com' };
  readAddress(url.value);
  const parts = [
    profile && `profile ${profile.value}`,
    workspace && `workspace ${workspace.value} (${workspace.source})`,
  ];
  return { state: 'ok', text: [`${url.value} (${url.source})`, ...parts.filter((one) => one !== null)].join(', ') };
}

async function checkProxy({ io: { env } }: Call): Promise<Omit<Finding, 'check'>> {
  const names = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY'];
  const given = names.flatMap((name) => [name, name.toLowerCase()]).filter((name) => (env[name] ?? '') !== '');
  if (given.length === 0) return { state: 'ok', text: 'none is set' };
  if (env['NODE_USE_ENV_PROXY'] === '1') return { state: 'ok', text: `${given.join(', ')} is used` };
  return { state: 'warning', text: `${given.join(', ')} is set, and only used with NODE_USE_ENV_PROXY=1` };
}

const within10Seconds = ({ signal }: Call): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(10_000)]);

interface Reached {
  readonly answer: Response;
  readonly ms: number;
}

async function addressOf({ io, options }: Call): Promise<string> {
  const { url } = await readSettings(io, options);
  return readAddress(url?.value ?? '');
}

async function reach(call: Call, path: string): Promise<Reached> {
  const address = `${await addressOf(call)}${path}`;
  const since = performance.now();
  const answer = await openFetch(call)(address, { signal: within10Seconds(call) });
  return { answer, ms: Math.round(performance.now() - since) };
}

async function checkService(call: Call): Promise<Omit<Finding, 'check'>> {
  const { answer, ms } = await reach(call, '/openapi.json');
  const { info } = (await answer.json()) as { info?: { version?: string; 'x-build'?: { version?: string } } };
  const version = answer.headers.get('api-version') ?? 'unknown';
  const text = `answers in ${ms} ms, API version ${version}, release ${info?.['x-build']?.version ?? info?.version ?? 'unknown'}`;
  return version === '1' ? { state: 'ok', text } : { state: 'warning', text: `${text}; this wts is for version 1` };
}

async function checkAuthOrigin(call: Call): Promise<Omit<Finding, 'check'>> {
  const { signal } = call;
  const fetch = openFetch(call);
  const { authUrl } = await findServer(await addressOf(call), { fetch, signal });
  const answer = await fetch(`${authUrl}/.well-known/oauth-authorization-server`, { signal });
  return { state: answer.ok ? 'ok' : 'failed', text: `${authUrl} answers ${answer.status}` };
}

async function checkClock(call: Call): Promise<Omit<Finding, 'check'>> {
  const { answer, ms } = await reach(call, '/health');
  const theirs = Date.parse(answer.headers.get('date') ?? '');
  if (Number.isNaN(theirs)) return { state: 'warning', text: 'the service sends no time' };
  // The header has whole seconds.
  const skew = call.io.now().getTime() - ms / 2 - (theirs + 500);
  if (Math.abs(skew) <= SKEW_MS) return { state: 'ok', text: 'agrees with the service' };
  return {
    state: 'failed',
    text: `${durationText(Math.abs(skew))} ${skew > 0 ? 'ahead of' : 'behind'} the service: set the clock of this machine`,
  };
}

async function checkCertificate(call: Call): Promise<Omit<Finding, 'check'>> {
  const { protocol, hostname, port } = new URL(await addressOf(call));
  if (protocol === 'http:') {
    const isOwn = ['127.0.0.1', '[::1]', 'localhost'].includes(hostname);
    return isOwn
      ? { state: 'ok', text: 'none: it is this machine' }
      : { state: 'warning', text: 'none: everything is sent in clear' };
  }
  const { connect } = await import('node:tls');
  const { once } = await import('node:events');
  const socket = connect({ host: hostname, port: Number(port || 443), servername: hostname });
  try {
    await once(socket, 'secureConnect', { signal: within10Seconds(call) });
    const { valid_to: until, issuer } = socket.getPeerCertificate();
    const days = Math.floor((Date.parse(until) - call.io.now().getTime()) / DAY_MS);
    const text = `of ${[issuer.O ?? issuer.CN].join(', ')}, valid for ${days} more days`;
    return { state: days < CERTIFICATE_DAYS ? 'warning' : 'ok', text };
  } finally {
    socket.destroy();
  }
}

async function checkCredential(call: Call): Promise<Omit<Finding, 'check'>> {
  const { viewer, token } = await openSession(call);
  const { name, email } = await viewer();
  return { state: 'ok', text: `${name}${email === null ? '' : ` <${email}>`}, by ${token.source}` };
}

async function checkAccess(call: Call): Promise<Omit<Finding, 'check'>> {
  const { api } = await openSession(call);
  try {
    await api.listApiKeys({});
    return { state: 'ok', text: 'full access' };
  } catch (error) {
    const { code } = faultOf(error);
    if (code === 'insufficient_scope') return { state: 'warning', text: 'read only: wts login gives full access' };
    if (code === 'forbidden') return { state: 'warning', text: 'one workspace only' };
    throw error;
  }
}
