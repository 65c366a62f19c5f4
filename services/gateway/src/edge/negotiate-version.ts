import { Fault, SUPPORTED_API_VERSIONS } from '@wts/contracts';
import type { RequestContext } from './request-context.ts';

/**
 * Section 9 of the specification: an absent header means the current version; anything else must be a served version,
 * letter for letter, once. `1.0`, `01`, `v1`, an empty value and `1, 1` name no version; blanks around the value are
 * not part of it (RFC 9110 section 5.5). Stands before authentication: a caller of another version cannot be expected
 * to understand how this one refuses credentials.
 * Keeps versioning.header.before-credentials, versioning.header.optional, versioning.header.unknown.
 */
export function negotiateVersion({ headers }: RequestContext): void {
  const asked = headers.apiVersion;
  if (asked.length === 0) return;
  if (asked.length === 1 && SUPPORTED_API_VERSIONS.includes(asked[0] as string)) return;
  throw new Fault('unsupported_api_version', {
    message: `Api-Version must be one of: ${SUPPORTED_API_VERSIONS.join(', ')}.`,
  });
}
