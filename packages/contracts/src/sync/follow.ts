import { objectOf } from '../parts.ts';
import { syncActionSchema } from '../actions.ts';
import { contract, type ReplyOf } from '../contract.ts';
import { COUNT_PATTERN } from '../ids.ts';
import { LIMITS } from '../limits.ts';
import { actionExamples } from './examples.ts';
import { FRAMES, SOCKET_ERRORS, type FrameContract } from './frames.ts';
import { syncIdText } from './parts.ts';

export type DeltasReply = ReplyOf<typeof deltas>;

const spelling = {
  type: 'string',
  enum: ['words', 'letters'],
  description:
    'How `action` is spelled: `INSERT` (words, the default) or `I` (letters, for published Strata Sync clients).',
} as const;

// Keeps sync.deltas.scope.
export const deltas = contract({
  id: 'syncDeltas',
  method: 'GET',
  path: '/sync/deltas',
  summary: 'Poll for changes after a cursor',
  description:
    'Returns the changes of tasks and other records after `after`, oldest first, in the workspaces and private projects you can see. Continue with `after` = `lastSyncId`, immediately while `hasMore` is true.\n\nYou get the changes of a workspace from the moment you joined it. A membership of yours (`WorkspaceMember` or `ProjectMember`) whose `groupId` is your own id tells you that you joined: load the earlier state with `/sync/bootstrap`.\n\n409 means that the cursor is older than the log, or belongs to another database: run a bootstrap. Callers in letters get an empty page instead, and the error on their socket.',
  tag: 'Sync',
  scope: 'read',
  query: {
    type: 'object',
    properties: {
      after: { ...syncIdText, description: 'The cursor: only later changes are returned. Default: 0.' },
      limit: {
        type: 'string',
        pattern: COUNT_PATTERN,
        description: `Default ${LIMITS.deltasLimitDefault}, clamped to 1..${LIMITS.deltasLimitMax}. A page of large changes has fewer.`,
      },
      syncGroups: {
        type: 'string',
        maxLength: 8192,
        description:
          'Comma-separated ids of workspaces, private projects or yourself: narrows the answer, never widens it. Implies letters.',
      },
      actions: spelling,
    },
  },
  reply: {
    status: 200,
    description: 'A page of changes.',
    schema: objectOf({
      lastSyncId: {
        ...syncIdText,
        description: 'Your next `after`. It also moves past changes that you cannot see.',
      },
      hasMore: { type: 'boolean', description: 'True when there is another page now.' },
      actions: { type: 'array', items: syncActionSchema, description: 'In ascending order of `syncId`.' },
    }),
    example: { lastSyncId: '44', hasMore: false, actions: actionExamples },
  },
  errors: ['bootstrap_required'],
});

const frameRow = ({ to, example, description }: FrameContract): string =>
  `| to ${to === 'server' ? 'the server' : 'you'} | \`${JSON.stringify(example)}\`: ${description} |`;

/** The WebSocket endpoint: served by sync, proxied by the gateway; the token is in the query string. */
export const socket = contract({
  id: 'syncSocket',
  method: 'GET',
  path: '/sync/ws',
  summary: 'Follow changes live, over a WebSocket',
  description: `Connect with \`?token=\`, because browsers cannot send the header on a WebSocket. A wrong token is refused before the upgrade with the usual error body. All frames are JSON texts.

| direction | frame |
|---|---|
${FRAMES.map(frameRow).join('\n')}

Codes of errors: ${Object.entries(SOCKET_ERRORS)
    .map(([code, action]) => `\`${code}\` (${action})`)
    .join(', ')}.

Store the last \`lastSyncId\`, and subscribe with it after every reconnect.`,
  tag: 'Sync',
  scope: 'read',
  query: {
    type: 'object',
    properties: {
      token: { type: 'string', maxLength: LIMITS.credentialChars, description: 'Any credential. It is never logged.' },
      actions: spelling,
    },
  },
  reply: { status: 101, description: 'The connection is now a WebSocket.', schema: { type: 'string' } },
  errors: ['upgrade_required'],
});
