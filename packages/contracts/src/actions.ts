import { typed } from './type-of.ts';
import { SYNC_ID_PATTERN } from './ids.ts';
import type { CredentialKind } from './scopes.ts';
import { objectOf, timestamp, uuid } from './parts.ts';

export const ACTIONS = ['INSERT', 'UPDATE', 'DELETE', 'ARCHIVE', 'UNARCHIVE'] as const;
export type ActionName = (typeof ACTIONS)[number];

/** One-letter spelling for clients that request it. */
export const ACTION_LETTERS = {
  INSERT: 'I',
  UPDATE: 'U',
  DELETE: 'D',
  ARCHIVE: 'A',
  UNARCHIVE: 'V',
} as const satisfies Record<ActionName, string>;

/** A record as clients read it: `id`, `createdAt`, `updatedAt` are always present. */
export type ModelRecord = { readonly id: string } & { readonly [field: string]: unknown };

/** A log entry as clients read it: section 2 of the specification, with actions in words. */
export interface SyncAction {
  readonly syncId: string;
  readonly modelName: string;
  readonly modelId: string;
  readonly action: ActionName;
  readonly data: { readonly [field: string]: unknown };
  readonly groupId: string;
  readonly clientTxId: string;
  readonly clientId: string;
  readonly createdAt: string;
}

/**
 * A log entry as services read it. `record` is the full record after the change (before it, for DELETE), for webhooks and history.
 * `data` is for clients.
 */
export interface StoredEntry extends SyncAction {
  /** The webhook-id of every delivery of this entry. */
  readonly eventId: string;
  /** Null for an entry of no workspace, such as of a person's own profile. */
  readonly workspaceId: string | null;
  readonly actorId: string;
  readonly record: ModelRecord;
  /** Names of the changed fields; empty on INSERT and DELETE. */
  readonly changed: readonly string[];
  /** An UPDATE after which a task or a project is done that was open before. */
  readonly completes: boolean;
}

/** One message of the stream: a run of log entries without holes. `prev` is the last id before `first`. */
export interface EntryChunk {
  readonly epoch: string;
  readonly prev: string;
  readonly first: string;
  readonly last: string;
  readonly actions: readonly StoredEntry[];
}

const syncId = { type: 'string', pattern: SYNC_ID_PATTERN } as const;

/** Any record; `/openapi.json` replaces it with the models and their fields. */
export const modelRecordSchema = typed<ModelRecord>({
  type: 'object',
  description: 'A record of any model, whole: after the change, or before it for `DELETE`.',
});

/** Includes the letters, which sync writes in the last step. */
export const syncActionSchema = typed<SyncAction>({
  description: 'An entry of the log.',
  ...objectOf({
    syncId: { ...syncId, description: 'Its position in the log: larger is later. Compare as 64-bit integers.' },
    modelName: { type: 'string', description: 'Such as `Task`.' },
    modelId: { ...uuid, description: 'The record.' },
    action: {
      type: 'string',
      enum: [...ACTIONS, ...Object.values(ACTION_LETTERS), 'G'],
      description:
        'What happened. Callers that ask for letters get the first letter (`V` for `UNARCHIVE`), and `G` for a change of their groups.',
    },
    data: {
      type: 'object',
      description:
        '`INSERT`: the whole record. `UPDATE`: the changed fields and `updatedAt`. `ARCHIVE` and `UNARCHIVE`: `archivedAt`. `DELETE`: nothing.',
    },
    groupId: { ...uuid, description: 'Who can see it: the id of a workspace, of a private project, or of a person.' },
    clientTxId: { type: 'string', description: 'The `clientTxId` of the transaction.' },
    clientId: { type: 'string', description: 'The device or process that made the change.' },
    createdAt: { ...timestamp, description: 'When it was committed.' },
  }),
});

/** Logs are numbered: each cell of an installation has one. An installation with one log has number 0. */
export const SHARDS_MAX = 4096;

/** The stream and subjects of one log. One stream per log; subjects name no workspace, so no filter can miss an entry. */
export interface LogStream {
  /** The number of the log. */
  readonly shard: number;
  readonly name: string;
  readonly subject: string;
  /** Core NATS, no durability: a replica sends its committed chunk to the other replicas. */
  readonly handover: string;
  /** Core NATS: the id of a replica that takes hand-overs. */
  readonly replicas: string;
  /** Core NATS: the ids of workspaces with new entries, separated by commas, for followers that read the log. */
  readonly committed: string;
  /** Core NATS: there is a follower of workspaces; repeated, because without one sync publishes nothing on `committed`. */
  readonly followers: string;
  /** Core NATS: endpoints with new deliveries or new settings, so that the replica that serves them acts at once. */
  readonly webhooks: string;
}

/** Log 0 has the names of before there were several, so that services of both versions run side by side. */
export function streamOf(shard: number): LogStream {
  const [name, prefix] = shard === 0 ? ['WTS_LOG', 'wts'] : [`WTS_LOG_${shard}`, `wts.${shard}`];
  return {
    shard,
    name,
    subject: `${prefix}.log`,
    handover: `${prefix}.handover`,
    replicas: `${prefix}.replicas`,
    committed: `${prefix}.committed`,
    followers: `${prefix}.followers`,
    webhooks: `${prefix}.webhooks`,
  };
}

/** The stream and subjects of log 0, and the subjects of all logs together. */
export const STREAM = {
  ...streamOf(0),
  /** Core NATS: a credential was revoked or a membership ended; caches drop it and its open sockets close. */
  revoked: 'wts.revoked',
  /** Core NATS: the counts of each gateway, so that limits hold for all gateways together. */
  rates: 'wts.rates',
  /** A header of `committed` when the commit is traced: the ids of its events. */
  tracedEvents: 'events',
  duplicateWindowMs: 120_000,
  maxAgeMs: 24 * 60 * 60 * 1000,
} as const;

/** Message on `STREAM.revoked`. Without `credentialId` it is about all credentials of the person. */
export interface Revocation {
  readonly kind: 'credential' | 'membership';
  readonly credentialId?: string;
  readonly userId?: string;
  /** Only credentials of this kind. */
  readonly credentialKind?: CredentialKind;
  readonly workspaceId?: string;
}
