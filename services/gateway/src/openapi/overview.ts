import { API_VERSION, ERROR_CODES, ERRORS, Fault, LIMITS, errorBody, syncApi, type ErrorCode } from '@wts/contracts';
import { EDGE_LIMITS } from '../limits.ts';
import { quickStart } from './quick-start.ts';
import { RECEIVING_WEBHOOKS } from './receiving-webhooks.ts';

const MIB = 1024 * 1024;
const HOUR_MS = 60 * 60 * 1000;

/** The introduction of the description, in Markdown: what applies to every operation. */
export function overview(server: string): string {
  return `Tasks, projects and comments in workspaces, with one server-ordered log of every change.

${quickStart(server)}

## Authentication

Send \`Authorization: Bearer <credential>\`: a personal API key, an OAuth access token, or the token of a signed-in user. Each
operation names the scope it needs.

| scope | allows |
|---|---|
| \`read\` | see everything the owner of the credential can see |
| \`write\` | change tasks, projects, comments, labels, teams and checklists; includes \`read\` |
| \`admin\` | manage workspaces, members, invitations and API keys; includes \`write\` |

A \`read-only\` key has the scope \`read\`; a \`full-access\` key and a signed-in user have all three. An OAuth access
token has what its person allowed the app: \`read\`, or \`read\` and \`write\`. A person's role in a
workspace (\`owner\`, \`admin\`, \`member\` or \`guest\`) decides what they may do there. Everything in a workspace you do not belong to
is \`404\`.

${COMMAND_LINES}

An app gets its token by OAuth 2.1 with PKCE. It finds the authorization server by \`/.well-known/oauth-protected-resource\` and RFC 8414.
There is no OpenID discovery: a library that knows only \`/.well-known/openid-configuration\` needs the addresses of
\`/authorize\`, \`/token\` and the keys in its configuration, from the metadata at \`/.well-known/oauth-authorization-server\`.

## Web pages

Pages of other origins may call this API when the operator lists their origin in the setting \`CORS_ORIGINS\`, such as
\`https://app.example.com\`. \`npm start\` allows every page of \`localhost\` and \`127.0.0.1\`. Otherwise the browser reports a CORS
error, and the answer 403 to its preflight, an \`OPTIONS\` request in its list of requests, says why. Cookies are never
used. Programs outside of browsers need nothing.

## Records

Workspaces, members, invitations and keys have REST operations. Tasks, projects and everything else in a workspace are
records of models, such as \`TaskRecord\` below. \`${syncApi.mutate.path}\` changes records, \`${syncApi.batch.path}\` and \`${syncApi.bootstrap.path}\` read them.
Each change is an entry of the log, which \`${syncApi.deltas.path}\` and \`${syncApi.socket.path}\` return in order. To rename a workspace or change
a role, update the \`Workspace\` or \`WorkspaceMember\` record.

${REPEATING_TASKS}

${RECEIVING_WEBHOOKS}
## Versions

\`Api-Version: ${API_VERSION}\` selects this version. Without the header you get the current version; any other value is 400. Every
answer carries \`Api-Version\`. A deprecated operation announces it with \`Deprecation\`, \`Sunset\` and \`Link\` at least
${EDGE_LIMITS.deprecationNoticeDays} days before it is removed.

\`info.version\` of \`/openapi.json\` is that of this description. \`info.x-build\` names the release and the commit that answer; quote them
when you ask for help.

## Bodies

Bodies are JSON in UTF-8 unless an operation says otherwise, at most ${LIMITS.bodyBytes / MIB} MiB (\`${syncApi.mutate.path}\`: ${LIMITS.mutateBodyBytes / MIB} MiB) and ${LIMITS.jsonDepth} levels deep. Ids are
UUIDs; answers have them in lower case, also where you sent capitals. Lengths of texts count Unicode code points, and a text has no NUL and no
unpaired surrogate. Times are ISO 8601 in UTC, such as \`2026-11-21T09:00:00.000Z\`; days are \`2026-11-21\`. Positions in the log are decimal
strings, because they may exceed the integers a double can hold. REST lists are complete, except those that take
\`after\` and \`limit\`: their \`hasMore\` is true when there is another page.

## Retries and idempotency

A \`POST\` that takes an \`Idempotency-Key\` can be retried with the same key: for ${LIMITS.idempotencyKeptMs / HOUR_MS} hours you get the first answer, and
nothing happens twice. Transactions of \`${syncApi.mutate.path}\` are recognized by their \`clientTxId\` for ${LIMITS.idempotencyDays} days. \`RateLimit-Policy\` and
\`RateLimit\` show your rate limits; over a limit you get 429 with \`Retry-After\`.

${errorSection()}
`;
}

const COMMAND_LINES = `A command line gets a key by a page of the authorization server, \`/account/connect?name=…&challenge=…&port=…&state=…\`, where its
person chooses access, workspace and end. The page leads to \`http://127.0.0.1:<port>/callback\` with a \`code\`, or shows it when no port is
given. \`POST /account/connect/key\` there exchanges \`{"code", "verifier"}\` once for \`{"key", "apiUrl"}\`; the challenge is the SHA-256 of the
verifier in base64url.`;

const REPEATING_TASKS = `## Repeating tasks

A task with a \`repeatRule\` is the newest of its series: an RFC 5545 rule of days, such as \`FREQ=WEEKLY;BYDAY=MO,TH\`. Completing it
creates the next task in the same change, with the rule, the texts, the labels and the unticked checklist; the completed one keeps
\`repeatTemplateId\`, the id of the series. With \`"repeatFrom": "date"\` the days are those of the rule, and the next task is also created
when its day begins in the \`timeZone\` of the workspace, although the one before is open. With \`"repeatFrom": "completion"\` they count from
the day on which the task is completed. To make a task repeat from Monday, 4 January:

    {"action": "UPDATE", "modelName": "Task", …, "payload": {"startDate": "2027-01-04", "repeatRule": "FREQ=WEEKLY;BYDAY=MO,TH"}}

- **Skip** an occurrence with \`"repeatSkip": "2027-01-04"\`, the day of the task, or with \`true\`: the dates move to the next day of the
  rule. Two people who skip the same named day skip it once. **End** a series with \`"repeatRule": null\`.
  Archiving its newest task pauses it, and deleting that one ends it.
- A change of the newest task applies to all that follow. There is no change of a single occurrence alone.
- After days on which the service was down, a series goes on with one task, for the latest of them. While too many of its tasks are open,
  7 unless the operator sets another number, it waits (\`repeatWaiting\`).
- A rule by months or years takes the day of the task, and the last day of a month that is shorter: from 31 January, 28 February and 31
  March. Only \`BYMONTHDAY=31\` leaves out shorter months.
- \`repeatPreview\` of GraphQL shows the days of a rule before a task has it, and \`repeatText\` its words.`;

function errorSection(): string {
  return `## Errors

Every error has this body. \`code\` is stable and for programs, \`message\` explains to people what to change, and \`requestId\` is the
\`X-Request-Id\` of the answer; quote it when you ask for help.

    ${JSON.stringify(EXAMPLE, null, 2).replaceAll('\n', '\n    ')}

<details><summary>All ${ERROR_CODES.length} error codes</summary>

| status | code | meaning | retry |
|---|---|---|---|
${ERROR_CODES.toSorted((one, other) => ERRORS[one].status - ERRORS[other].status)
  .map(errorRow)
  .join('\n')}

</details>`;
}

const EXAMPLE = errorBody(
  new Fault('validation_failed', { message: 'body must have the property "name"' }),
  '0192f0c1-5b7e-7c3a-9d3e-2f6a1b4c8d90',
);

function errorRow(code: ErrorCode): string {
  const { status, when, retryable } = ERRORS[code];
  return `| ${status} | \`${code}\` | ${when} | ${retryable ? 'yes' : 'no'} |`;
}
