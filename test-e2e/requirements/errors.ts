import type { Rule } from './rule.ts';

/** What a caller sees when something is wrong: section 7 of the specification, completed by design 5. */
export const errors: readonly Rule[] = [
  {
    id: 'errors.shape.fields',
    source: 'Specification 7',
    text: 'An error body has `error`, `ok` and `statusCode`, may have `code`, `message`, `requestId` and `retryAfterSeconds`, and nothing else.',
    home: 'packages/contracts/src/errors.ts',
  },
  {
    id: 'errors.shape.everywhere',
    source: 'Design 5',
    text: 'The shape holds everywhere: parser errors, unknown routes, wrong methods, oversized bodies and headers, refused upgrades.',
    home: 'services/gateway/src/edge/answer.ts',
  },
  {
    id: 'errors.401.no-header',
    source: 'Specification 7',
    text: 'No bearer header is 401 `Authorization header required`.',
    home: 'packages/access/src/authenticator.ts',
  },
  {
    id: 'errors.401.bad-format',
    source: 'Specification 7',
    text: 'A header that is not `Bearer ...` is 401 `Invalid authorization format`.',
    home: 'packages/access/src/authenticator.ts',
  },
  {
    id: 'errors.401.bad-key',
    source: 'Specification 7',
    text: 'A wrong or revoked key is 401 `Invalid API key`.',
    home: 'packages/access/src/authenticator.ts',
  },
  {
    id: 'errors.401.bad-jwt',
    source: 'Specification 7',
    text: 'An invalid JWT is 401 `Invalid token`.',
    home: 'packages/access/src/authenticator.ts',
  },
  {
    id: 'errors.401.www-authenticate',
    source: 'Design 5',
    text: 'A 401 carries `WWW-Authenticate`.',
    home: 'packages/access/src/authenticator.ts',
  },
  {
    id: 'errors.402.endpoint-limit',
    source: 'Specification 7',
    text: 'Creating a webhook endpoint beyond the limit is 402.',
    home: 'services/webhook-dispatcher/src/commands/manage-endpoints.ts',
  },
  {
    id: 'errors.400.validation',
    source: 'Design 5',
    text: 'A request that does not fit its contract is 400 `validation_failed`, and `message` names the field.',
    home: 'packages/service-kit/src/routes/validate.ts',
  },
  {
    id: 'errors.400.bad-text',
    source: 'Design 5',
    text: 'NUL, lone surrogates, invalid UTF-8, duplicate query parameters, encoded slashes and prototype keys are 400, and never stored.',
    home: 'packages/contracts/src/json.ts',
  },
  {
    id: 'errors.400.parser-reason',
    source: 'Design 5',
    text: 'Bytes that are no request in HTTP are 400, and `message` says what the parser did not expect, also in the chunks of a body.',
    home: 'packages/service-kit/src/http/server.ts',
  },
  {
    id: 'errors.400.json',
    source: 'Design 5',
    text: 'Broken JSON, and JSON deeper than 64 levels, is 400; the message names the line, the column and the mistake.',
    home: 'packages/contracts/src/json.ts',
  },
  {
    id: 'errors.404.unknown-route',
    source: 'Design 5',
    text: 'An unknown route is 404; routing is case-sensitive and strict.',
    home: 'services/gateway/src/edge/match-route.ts',
  },
  {
    id: 'errors.405.allow',
    source: 'Design 5',
    text: 'A known path with another method is 405 with `Allow`.',
    home: 'services/gateway/src/edge/match-route.ts',
  },
  {
    id: 'errors.409.conflict',
    source: 'Design 5',
    text: 'A conflict with what is there is 409.',
    home: 'packages/service-kit/src/postgres/sqlstate.ts',
  },
  {
    id: 'errors.413.body',
    source: 'Design 5',
    text: 'A body above its limit is 413, before it is read.',
    home: 'services/gateway/src/edge/bound-body.ts',
  },
  {
    id: 'errors.415.media-type',
    source: 'Design 5',
    text: 'A body that is not JSON in UTF-8 is 415; other parameters of its media type are ignored.',
    home: 'packages/service-kit/src/http/read-json.ts',
  },
  {
    id: 'errors.429.retry-after',
    source: 'Design 5',
    text: 'Too many requests is 429 with `Retry-After` and `retryAfterSeconds`.',
    home: 'services/gateway/src/edge/limit-rate.ts',
  },
  {
    id: 'errors.431.headers',
    source: 'Design 5',
    text: 'Headers above the limit are 431.',
    home: 'services/gateway/src/edge/refuse-ambiguity.ts',
  },
  {
    id: 'errors.503.retry-after',
    source: 'Design 5',
    text: 'A dependency that is down is 503 with `Retry-After`.',
    home: 'services/gateway/src/edge/answer.ts',
  },
  {
    id: 'errors.5xx.no-cause',
    source: 'Design 5',
    text: 'A 5xx never shows a cause.',
    home: 'packages/contracts/src/errors.ts',
  },
  {
    id: 'errors.request-id.returned',
    source: 'Design 5',
    text: "Every response has `X-Request-Id`: the caller's when well formed, else a new one; errors repeat it as `requestId`.",
    home: 'services/gateway/src/edge/request-context.ts',
  },
];
