import { SyncError } from '@wts/client/api';
import type { Io } from '../io.ts';
import type { Output } from '../output/output.ts';

/** A person wonders what happens after this time. */
const SILENCE_MS = 2_000;

/** The server was never reached: asking again within seconds does not help, and keeps a person waiting. */
class UnreachableError extends SyncError {
  override readonly name = 'UnreachableError';

  constructor(origin: string, cause: unknown) {
    super('connection_failed', `${origin} cannot be reached: ${reasonOf(cause)}.`, { cause });
  }

  override get isTemporary(): boolean {
    return false;
  }
}

/** A connection that was made and then lost, or not made in time: the next attempt may succeed. */
const TRANSIENT = new Set([
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
]);

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no such host',
  EHOSTUNREACH: 'there is no way to this host',
  ENETUNREACH: 'there is no network',
  EAI_AGAIN: 'the name of the host cannot be resolved now',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT:
    'its certificate is signed by itself; NODE_EXTRA_CA_CERTS names a file of authorities to trust',
  SELF_SIGNED_CERT_IN_CHAIN: 'its authority is not trusted; NODE_EXTRA_CA_CERTS names a file of authorities to trust',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate cannot be verified',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS; its address may begin with http://',
};

interface FetchParts {
  readonly io: Pick<Io, 'env'>;
  readonly output: Pick<Output, 'note' | 'warn'>;
}

/**
 * `fetch` of the platform, which says so when no answer comes for a while, and with `WTS_DEBUG=1` what is requested. It follows no
 * redirect, because that would send the credential to where a server leads. Keeps cli.credential.origin.
 */
export function openFetch({ io, output }: FetchParts): typeof fetch {
  const isDebugged = ['1', 'api'].includes(io.env['WTS_DEBUG'] ?? '');
  let isNoted = false;
  // A service that has answered may be starting again.
  const reached = new Set<string>();
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const since = performance.now();
    const noting = setTimeout(() => {
      if (!isNoted) void output.note(`Waiting for ${url.host} ...`);
      isNoted = true;
    }, SILENCE_MS);
    const method = init?.method ?? 'GET';
    try {
      if (isDebugged) await output.warn(`> ${method} ${url.pathname}${safeQuery(url)} ${bodyText(init?.body)}`);
      const answer = await fetch(input, { ...init, redirect: 'error' });
      if (isDebugged) {
        const ms = Math.round(performance.now() - since);
        await output.warn(
          `< ${answer.status} in ${ms} ms, request ${answer.headers.get('x-request-id') ?? 'without id'}`,
        );
      }
      reached.add(url.origin);
      return answer;
    } catch (error) {
      if (isDebugged) await output.warn(`< ${String(error)} ${codeOf(error) ?? ''}`);
      const mayPass = reached.has(url.origin) || TRANSIENT.has(codeOf(error) ?? '');
      throw init?.signal?.aborted === true || mayPass ? error : new UnreachableError(url.origin, error);
    } finally {
      clearTimeout(noting);
    }
  };
}

/** Says how long a call waits before it is repeated. */
export function notePauses(output: Pick<Output, 'note'>): { readonly onPause: (ms: number, error: unknown) => void } {
  return {
    onPause: (ms, error) => {
      const why = error instanceof Error ? error.message : String(error);
      if (ms > SILENCE_MS) void output.note(`${why}; next attempt in ${Math.ceil(ms / 1000)} s.`);
    },
  };
}

function reasonOf(error: unknown): string {
  const code = codeOf(error);
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
  if (inner === 'unexpected redirect')
    return 'it answers with a redirect, and no redirect is followed with a credential';
  return REASONS[code ?? ''] ?? code ?? inner;
}

function codeOf(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as NodeJS.ErrnoException;
    if (typeof code === 'string') return code;
  }
  return undefined;
}

/** Credentials never stand in an address here; a code might. */
function safeQuery({ searchParams }: URL): string {
  const names = [...searchParams].map(([name, value]) => `${name}=${SECRET.test(name) ? '…' : value}`);
  return names.length === 0 ? '' : `?${names.join('&')}`;
}

const SECRET = /token|code|secret|password|verifier/i;

function bodyText(body: RequestInit['body']): string {
  if (typeof body !== 'string') return '';
  return body.replaceAll(/"(\w*(?:token|code|secret|password|verifier)\w*)":"[^"]*"/gi, '"$1":"…"').slice(0, 2_000);
}
