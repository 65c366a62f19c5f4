import { API_VERSION, ERROR_CODES, ERRORS, LIMITS } from '@wts/contracts';
import type { ErrorCode } from '@wts/contracts';
import { EDGE_LIMITS } from '../limits.ts';

const MIB = 1024 * 1024;
const HOUR_MS = 60 * 60 * 1000;

/** What holds for every operation, said once, in Markdown. Numbers and codes come from where they are kept. */
export function overview(server: string): string {
  return `Tasks, projects and comments inside workspaces, with one server-ordered log of every change.

    curl -H "Authorization: Bearer $API_KEY" ${server}/api/workspaces

## Authentication

Send \`Authorization: Bearer <credential>\`: a personal API key, an OAuth access token, or the token of a signed-in user. An
operation names the scope it needs.

| scope | allows |
|---|---|
| \`read\` | to see what your person sees |
| \`write\` | to change tasks, projects, comments, labels, teams and checklists; includes \`read\` |
| \`admin\` | workspaces, members, invitations and API keys; includes \`write\` |

A \`read-only\` key holds \`read\`, a \`full-access\` key and a signed-in user all three. What a person may do in a workspace,
their role there says: \`owner\`, \`admin\`, \`member\` or \`guest\`. What is in a workspace you do not belong to is \`404\`.

## Two ways to the data

People, invitations and keys have operations of their own. Tasks, projects and everything else in a workspace are records
of models (\`TaskRecord\` and its like below): \`/sync/mutate\` changes them, \`/sync/bootstrap\` and \`/sync/batch\` read them, and each change
is an entry of the log, which \`/sync/deltas\` and \`/sync/ws\` give in order. Renaming a workspace or giving somebody another
role is such a change too, of a \`Workspace\` or \`WorkspaceMember\`.

## Versions

\`Api-Version: ${API_VERSION}\` asks for this version; without the header you get the current one, and any other value is 400. Every answer
carries \`Api-Version\`. An operation that retires says so with \`Deprecation\`, \`Sunset\` and \`Link\`, at least
${EDGE_LIMITS.deprecationNoticeDays} days before it stops.

## Bodies

JSON in UTF-8, unless an operation says otherwise; at most ${LIMITS.bodyBytes / MIB} MiB (\`/sync/mutate\`: ${LIMITS.mutateBodyBytes / MIB} MiB) and ${LIMITS.jsonDepth} levels deep. Ids are
UUIDs. Times are ISO 8601 in UTC, such as \`2026-11-21T09:00:00.000Z\`; days are \`2026-11-21\`. Places in the log are decimal
strings, because they may be larger than a double holds. Lists of the REST operations are whole, but for those
that take \`after\` and \`limit\`: these say by \`hasMore\` whether there is another page.

## Asking again

\`POST\` operations that take an \`Idempotency-Key\` may be sent again with the same key: for ${LIMITS.idempotencyKeptMs / HOUR_MS} hours the first answer comes
back, and nothing happens twice. Transactions of \`/sync/mutate\` are recognized by their \`clientTxId\` for ${LIMITS.idempotencyDays} days.
Rates are announced by \`RateLimit-Policy\` and \`RateLimit\`; beyond one it is 429 with \`Retry-After\`.

## Errors

Every error has the same body: \`code\` is for programs and stays, \`message\` tells a person what to change, and \`requestId\`
is the \`X-Request-Id\` of the answer, to quote when you ask for help.

| status | code | when | worth trying again |
|---|---|---|---|
${ERROR_CODES.toSorted((one, other) => ERRORS[one].status - ERRORS[other].status)
  .map(errorRow)
  .join('\n')}
`;
}

function errorRow(code: ErrorCode): string {
  const { status, error, when, retryable } = ERRORS[code];
  return `| ${status} | \`${code}\` | ${error}. ${when} | ${retryable ? 'later' : 'no'} |`;
}
