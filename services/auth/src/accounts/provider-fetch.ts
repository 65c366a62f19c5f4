import { readBounded } from '@wts/access';
import { addressGuard, openGuardedRequests, openResolver, parseTarget } from '@wts/service-kit/egress';
import type { ConnectOptions } from '@wts/service-kit/egress';
import type { ProviderSetting } from '../domain/provider-setting.ts';

/** Answers of a provider are small; a larger one is not read to its end. */
const ANSWER_BYTES_MAX = 256 * 1024;
/** Statuses whose answers have no body. */
const BODYLESS = [204, 205, 304];

/**
 * Requests to an identity provider. The operator configures the issuer, so its origin may be anywhere, also inside the cluster. Its
 * metadata may name other origins for its endpoints. Those must be public, or in the `allowedCidrs` of OIDC_PROVIDER, because otherwise
 * who controls the metadata would choose which server of the private network gets a request of this service. Redirects are not followed.
 *
 * The caller's signal bounds the time of a whole answer. Keeps never.non-public-address.
 */
export function openProviderFetch(
  { issuer, allowedCidrs = [] }: Pick<ProviderSetting, 'issuer' | 'allowedCidrs'>,
  trust: Pick<ConnectOptions, 'extraCaFile'> = {},
): (url: string, options: RequestInit) => Promise<Response> {
  const { origin } = new URL(issuer);
  const guard = addressGuard(allowedCidrs);
  const send = openGuardedRequests({ guard, resolver: openResolver({ servers: [] }), ...trust });
  return async (url, options) => {
    const request = new Request(url, { ...options, redirect: 'manual' });
    if (new URL(request.url).origin === origin) return boundedFetch(request);
    const target = parseTarget(request.url, guard);
    if (typeof target === 'string') throw new Error(`The provider leads to ${request.url}. ${target}`);
    const answer = await send(target, {
      method: request.method === 'POST' ? 'POST' : 'GET',
      headers: Object.fromEntries(request.headers),
      body: await request.bytes(),
      signal: request.signal,
      bytesMax: ANSWER_BYTES_MAX,
    });
    if (answer.body === null) throw new Error(`the answer has more than ${ANSWER_BYTES_MAX} bytes`);
    const headers = Object.entries(answer.headers).flatMap(([name, values]) =>
      [values ?? []].flat().map((value): [string, string] => [name, value]),
    );
    return responseOf(answer.statusCode, headers, answer.body);
  };
}

async function boundedFetch(request: Request): Promise<Response> {
  const { status, headers, body } = await fetch(request);
  return responseOf(status, headers, body === null ? null : await readBounded(body, ANSWER_BYTES_MAX));
}

function responseOf(status: number, headers: NonNullable<ResponseInit['headers']>, body: Buffer | null): Response {
  return new Response(BODYLESS.includes(status) || body === null ? null : new Uint8Array(body), { status, headers });
}
