import type { Rule } from './rule.ts';

/** How the interface changes: section 9 of the specification. */
export const versioning: readonly Rule[] = [
  {
    id: 'versioning.header.optional',
    source: 'Specification 9',
    text: '`Api-Version` travels in the request header; omitted means the current version, `1`.',
    home: 'services/gateway/src/edge/negotiate-version.ts',
  },
  {
    id: 'versioning.header.unknown',
    source: 'Specification 9',
    text: 'A version the server does not serve is 400, never answered by another version.',
    home: 'services/gateway/src/edge/negotiate-version.ts',
  },
  {
    id: 'versioning.header.before-credentials',
    source: 'Design 5',
    text: 'The version is judged before the credential.',
    home: 'services/gateway/src/edge/negotiate-version.ts',
  },
  {
    id: 'versioning.response.always',
    source: 'Specification 9',
    text: 'Every response carries `Api-Version`, errors included.',
    home: 'services/gateway/src/edge/request-context.ts',
  },
  {
    id: 'versioning.retiring.headers',
    source: 'Specification 9',
    text: 'A retiring operation gains `Deprecation`, `Sunset` and a `Link` with `rel=deprecation`.',
    home: 'services/gateway/src/deprecations.ts',
  },
  {
    id: 'versioning.retiring.notice',
    source: 'Specification 9',
    text: '`Sunset` is never less than 90 days after `Deprecation`: the service does not start otherwise.',
    home: 'services/gateway/src/deprecations.ts',
  },
  {
    id: 'versioning.description.version',
    source: 'Specification 9',
    text: 'The description is OpenAPI 3.1, version `1.0.0`.',
    home: 'services/gateway/src/openapi.ts',
  },
  {
    id: 'versioning.sync.not-stable',
    source: 'Specification 9',
    text: 'The description states that sync routes are advanced transport, not a stable platform API.',
    home: 'services/gateway/src/openapi.ts',
  },
];
