import type { Rows } from './rule.ts';

/** How the interface changes: section 9 of the specification. */
// prettier-ignore
export const versioning: Rows = [
  ['versioning.header.optional', '`Api-Version` travels in the request header; omitted means the current version, `1`.', 'services/gateway/src/edge/negotiate-version.ts', 'Specification 9'],
  ['versioning.header.unknown', 'A version the server does not serve is 400, never answered by another version.', 'services/gateway/src/edge/negotiate-version.ts', 'Specification 9'],
  ['versioning.header.before-credentials', 'The version is judged before the credential.', 'services/gateway/src/edge/negotiate-version.ts', 'Design 5'],
  ['versioning.response.always', 'Every response carries `Api-Version`, errors included.', 'services/gateway/src/edge/request-context.ts', 'Specification 9'],
  ['versioning.retiring.headers', 'A retiring operation gains `Deprecation`, `Sunset` and a `Link` with `rel=deprecation`.', 'services/gateway/src/deprecations.ts', 'Specification 9'],
  ['versioning.retiring.notice', '`Sunset` is never less than 90 days after `Deprecation`: the service does not start otherwise.', 'services/gateway/src/deprecations.ts', 'Specification 9'],
  ['versioning.description.version', 'The description is OpenAPI 3.1, version `1.0.0`.', 'services/gateway/src/openapi.ts', 'Specification 9'],
  ['versioning.sync.not-stable', 'The description states that sync routes are advanced transport, not a stable platform API.', 'services/gateway/src/openapi.ts', 'Specification 9'],
];
