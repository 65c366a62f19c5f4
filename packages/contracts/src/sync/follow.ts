import { syncActionSchema } from '../actions.ts';
import { contract, type ReplyOf } from '../contract.ts';
import { EXAMPLE_IDS } from '../example-ids.ts';
import { COUNT_PATTERN } from '../ids.ts';
import { LIMITS } from '../limits.ts';
import { FRAMES, SOCKET_ERRORS } from './frames.ts';
import type { FrameContract } from './frames/frame.ts';
import { labelExample, syncIdText } from './parts.ts';

export type DeltasReply = ReplyOf<typeof deltas>;

const spelling = {
  type: 'string',
  enum: ['words', 'letters'],
  description: 'Spelling of `action`: `INSERT`, or `I` as published Strata Sync clients read it. Default: words.',
} as const;

// Keeps sync.deltas.scope.
export const deltas = contract({
  id: 'syncDeltas',
  method: 'GET',
  path: '/sync/deltas',
  summary: 'Read the log after a cursor',
  description:
    'Pages of what happened after `after`, ascending, in the groups you may see; of each, what followed your latest gain of it. A membership of yours (`WorkspaceMember`, `ProjectMember`) whose `groupId` is your own id says that you gained a group: load what was there before by `/sync/bootstrap`. Go on with `after` = `lastSyncId`, at once while `hasMore` is true. 409 says that the cursor is older than the log, or of another database: load everything again. Callers in letters, who hear of it on their socket, get an empty page instead.',
  tag: 'Sync',
  scope: 'read',
  query: {
    type: 'object',
    properties: {
      after: { ...syncIdText, description: 'Cursor, exclusive; default 0.' },
      limit: {
        type: 'string',
        pattern: COUNT_PATTERN,
        description: `Default ${LIMITS.deltasLimitDefault}, clamped to 1..${LIMITS.deltasLimitMax}. A page of large actions holds fewer.`,
      },
      syncGroups: {
        type: 'string',
        maxLength: 8192,
        description: 'Comma-separated groups: narrows, never widens. Also asks for letters.',
      },
      actions: spelling,
    },
  },
  reply: {
    status: 200,
    description: 'One page.',
    schema: {
      type: 'object',
      additionalProperties: false,
      required: ['lastSyncId', 'hasMore', 'actions'],
      properties: {
        lastSyncId: {
          ...syncIdText,
          description: 'Your next `after`: how far was looked, also where nothing was for you.',
        },
        hasMore: { type: 'boolean', description: 'There is more already.' },
        actions: { type: 'array', items: syncActionSchema, description: 'Ascending by `syncId`.' },
      },
    },
    example: {
      lastSyncId: '43',
      hasMore: false,
      actions: [
        {
          syncId: '43',
          modelName: 'Label',
          modelId: EXAMPLE_IDS.label,
          action: 'INSERT',
          data: labelExample,
          groupId: EXAMPLE_IDS.workspace,
          clientTxId: EXAMPLE_IDS.clientTx,
          clientId: 'laptop',
          createdAt: '2026-11-21T09:00:00.000Z',
        },
      ],
    },
  },
  errors: ['bootstrap_required'],
});

const frameRow = ({ to, example, description }: FrameContract): string =>
  `| to ${to === 'server' ? 'the server' : 'you'} | \`${JSON.stringify(example)}\`: ${description} |`;

/** The WebSocket door: mounted by the sync service, proxied by the gateway; the token stands in the query string. */
export const socket = contract({
  id: 'syncSocket',
  method: 'GET',
  path: '/sync/ws',
  summary: 'Receive the log live, over a WebSocket',
  description: `Upgrade with \`?token=\`, because browsers cannot send the header; a bad token is refused before the upgrade, in the common error shape. Then all frames are JSON texts.

| direction | frame |
|---|---|
${FRAMES.map(frameRow).join('\n')}

Codes of errors: ${Object.entries(SOCKET_ERRORS)
    .map(([code, action]) => `\`${code}\` (${action})`)
    .join(', ')}.

Keep the last \`lastSyncId\` and subscribe with it again after any end.`,
  tag: 'Sync',
  scope: 'read',
  query: {
    type: 'object',
    properties: {
      token: {
        type: 'string',
        maxLength: LIMITS.credentialChars,
        description: 'Any credential; it is kept out of all logs.',
      },
      actions: spelling,
    },
  },
  reply: { status: 101, description: 'The connection is a WebSocket now.', schema: { type: 'string' } },
  errors: ['upgrade_required'],
});
