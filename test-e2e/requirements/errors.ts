import type { Rows } from './rule.ts';

/** What a caller sees when something is wrong: section 7 of the specification, completed by design 5. */
// prettier-ignore
export const errors: Rows = [
  ['errors.shape.fields', 'An error body has `error`, `ok` and `statusCode`, may have `code`, `message`, `requestId` and `retryAfterSeconds`, and nothing else.', 'packages/contracts/src/errors.ts', 'Specification 7'],
  ['errors.shape.everywhere', 'The shape holds everywhere: parser errors, unknown routes, wrong methods, oversized bodies and headers, refused upgrades.', 'services/gateway/src/edge/answer.ts', 'Design 5'],
  ['errors.401.no-header', 'No bearer header is 401 `Authorization header required`.', 'packages/access/src/authenticator.ts', 'Specification 7'],
  ['errors.401.bad-format', 'A header that is not `Bearer ...` is 401 `Invalid authorization format`.', 'packages/access/src/authenticator.ts', 'Specification 7'],
  ['errors.401.bad-key', 'A wrong or revoked key is 401 `Invalid API key`.', 'packages/access/src/authenticator.ts', 'Specification 7'],
  ['errors.401.bad-jwt', 'An invalid JWT is 401 `Invalid token`.', 'packages/access/src/authenticator.ts', 'Specification 7'],
  ['errors.401.www-authenticate', 'A 401 carries `WWW-Authenticate`.', 'packages/access/src/authenticator.ts', 'Design 5'],
  ['errors.402.endpoint-limit', 'Creating a webhook endpoint beyond the limit is 402.', 'services/webhook-dispatcher/src/commands/manage-endpoints.ts', 'Specification 7'],
  ['errors.400.validation', 'A request that does not fit its contract is 400 `validation_failed`, and `message` names the field.', 'packages/service-kit/src/routes/validate.ts', 'Design 5'],
  ['errors.400.bad-text', 'NUL, lone surrogates, invalid UTF-8, duplicate query parameters, encoded slashes and prototype keys are 400, and never stored.', 'packages/contracts/src/json.ts', 'Design 5'],
  ['errors.400.parser-reason', 'Bytes that are no request in HTTP are 400, and `message` says what the parser did not expect, also in the chunks of a body.', 'packages/service-kit/src/http/server.ts', 'Design 5'],
  ['errors.400.json', 'Broken JSON, and JSON deeper than 64 levels, is 400; the message names the line, the column and the mistake.', 'packages/contracts/src/json.ts', 'Design 5'],
  ['errors.404.unknown-route', 'An unknown route is 404; routing is case-sensitive and strict.', 'services/gateway/src/edge/match-route.ts', 'Design 5'],
  ['errors.405.allow', 'A known path with another method is 405 with `Allow`.', 'services/gateway/src/edge/match-route.ts', 'Design 5'],
  ['errors.409.conflict', 'A conflict with what is there is 409.', 'packages/service-kit/src/postgres/sqlstate.ts', 'Design 5'],
  ['errors.413.body', 'A body above its limit is 413, before it is read.', 'services/gateway/src/edge/bound-body.ts', 'Design 5'],
  ['errors.415.media-type', 'A body that is not JSON in UTF-8 is 415; other parameters of its media type are ignored.', 'packages/service-kit/src/http/read-json.ts', 'Design 5'],
  ['errors.429.retry-after', 'Too many requests is 429 with `Retry-After` and `retryAfterSeconds`.', 'services/gateway/src/edge/limit-rate.ts', 'Design 5'],
  ['errors.431.headers', 'Headers above the limit are 431.', 'services/gateway/src/edge/refuse-ambiguity.ts', 'Design 5'],
  ['errors.503.retry-after', 'A dependency that is down is 503 with `Retry-After`.', 'services/gateway/src/edge/answer.ts', 'Design 5'],
  ['errors.5xx.no-cause', 'A 5xx never shows a cause.', 'packages/contracts/src/errors.ts', 'Design 5'],
  ['errors.request-id.returned', "Every response has `X-Request-Id`: the caller's when well formed, else a new one; errors repeat it as `requestId`.", 'services/gateway/src/edge/request-context.ts', 'Design 5'],
];
