import { Fault, SUPPORTED_API_VERSIONS } from '@wts/contracts';
import type { RequestContext } from './request-context.ts';

/**
 * Section 9 of the specification: without the header the current version applies; a value must be exactly one supported
 * version. `1.0`, `01`, `v1`, an empty value and `1, 1` are not versions; spaces around the value are not part of it
 * (RFC 9110 section 5.5). Runs before authentication, because a client of another version may not understand how this one
 * refuses credentials.
 * Keeps versioning.header.before-credentials, versioning.header.optional, versioning.header.unknown.
 */
export function negotiateVersion({ headers }: RequestContext): void {
  const given = headers.apiVersion;
  if (given.length === 0) return;
  if (given.length === 1 && SUPPORTED_API_VERSIONS.includes(given[0] as string)) return;
  throw new Fault('unsupported_api_version', {
    message: `Api-Version must be one of: ${SUPPORTED_API_VERSIONS.join(', ')}.`,
  });
}
