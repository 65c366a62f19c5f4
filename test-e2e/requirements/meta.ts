import type { Rows } from './rule.ts';

/** Health, readiness and the description: section 4.6 of the specification. */
// prettier-ignore
export const meta: Rows = [
  ['meta.health.up', '`GET /health` answers 200 when the process is up.', 'services/gateway/src/own-answers.ts', 'Specification 4.6'],
  ['meta.health.no-wait', '`GET /health` does not wait on the database, the cache or the agent server.', 'services/gateway/src/own-answers.ts', 'Specification 4.6'],
  ['meta.ready.ping', '`GET /ready` answers 200 when the database answers a cheap read-only ping.', 'services/gateway/src/ready.ts', 'Specification 4.6'],
  ['meta.ready.down', '`GET /ready` answers 503 when the database does not.', 'services/gateway/src/ready.ts', 'Specification 4.6'],
  ['meta.ready.recovers', 'A service becomes ready again without help when the database is back.', 'services/gateway/src/ready.ts', 'Design 3'],
  ['meta.ready.schema', 'A service whose schema lacks a migration of its version, or that of sync which it reads, answers 503 to `GET /ready` and names what is lacking, until it has them.', 'packages/service-kit/src/migrate/schema-check.ts', 'Design 12'],
  ['meta.openapi.answer', '`GET /openapi.json` answers 200 with an OpenAPI 3.1 description.', 'services/gateway/src/own-answers.ts', 'Specification 4.6'],
  ['meta.openapi.complete', 'The description is made from the contracts the routes are mounted from: every public operation is in it, no other.', 'services/gateway/src/openapi.ts', 'Design 5'],
  ['meta.docs.page', '`GET /docs` answers a page for people, drawn from the description that is served.', 'services/gateway/src/own-answers.ts', 'Design 5'],
  ['meta.docs.closed', 'The page loads and calls only its own origin, runs nothing inline, and cannot be framed; its policy forbids all of this.', 'services/gateway/src/page-headers.ts', 'Design 5'],
  ['meta.docs.files', 'The files of the page are a closed list, looked up by name: no address reaches a disk.', 'services/gateway/src/docs/page.ts', 'Design 5'],
  ['meta.docs.revalidated', 'The description, the page and its files are sent again only when they changed: each has a tag, and 304 answers it. A file at an address with the hash of its content is not asked for again.', 'services/gateway/src/static-answer.ts', 'Design 5'],
  ['meta.openapi.typed-records', 'The description has for each model the fields of a new or changed record and of its log entries, so that a strict program generated from it compiles and is checked.', 'services/gateway/src/openapi/model-schemas.ts', 'Design 5'],
  ['meta.openapi.examples', 'Every operation about records shows the life of a task, a refusal with status 200 included; each model lists what an INSERT needs, and NDJSON lines have schemas.', 'packages/contracts/src/sync/examples.ts', 'Design 5'],
  ['meta.openapi.lint', 'The description breaks no rule of Redocly, of Spectral, or of our own, save those turned off with a reason.', 'services/gateway/test/description/rules.ts', 'Design 5'],
  ['meta.openapi.bootstrap-post', 'The description lists bootstrap as POST.', 'services/gateway/src/openapi.ts', 'Specification 4.5'],
  ['meta.bodies.json', 'Request and response bodies are JSON unless stated.', 'packages/contracts/src/contract.ts', 'Specification 4'],
  ['meta.paths.uuids', 'Identifiers in paths are UUIDs; anything else is refused.', 'packages/service-kit/src/routes/mount.ts', 'Specification 4'],
  ['meta.cors', 'Pages of configured origins may call every route and read every answer of it, refusals included; the description is open to any page.', 'services/gateway/src/edge/allow-origin.ts', 'Design 7'],
  ['meta.target', 'An address may be a path, or whole when it is of the host the request names; `OPTIONS *` is answered.', 'packages/service-kit/src/http/target.ts', 'Design 5'],
  ['meta.docs.found', '`/` in a browser, and `/docs/`, redirect to the page of the description.', 'services/gateway/src/own-answers.ts', 'Design 5'],
  ['console.page', '`GET /console` answers a page that shows endpoints, deliveries, attempts and answers, and does what the operations on webhooks can do.', 'services/gateway/src/own-answers.ts', 'Design 9'],
  ['console.page.closed', 'The console loads and calls only its own origin, runs nothing inline, is in no frame, and the browser parses no text of it as HTML.', 'services/gateway/src/console/page.ts', 'Design 9'],
  ['console.page.files', 'The files of the console are a closed list, found by name: no address reaches a disk.', 'services/gateway/src/console/page.ts', 'Design 9'],
  ['console.page.key', 'The console keeps an entered API key in the storage of its tab only, and puts it into no address.', 'services/gateway/src/console/page/main.js', 'Design 9'],
  ['console.page.inert', 'The console shows texts of others as texts, with invisible and reordering characters written out.', 'services/gateway/src/console/page/dom.js', 'Design 9'],
  ['console.page.secret', 'The console shows a signing secret once, with programs that verify deliveries with it.', 'services/gateway/src/console/page/dialogs.js', 'Design 9'],
];
