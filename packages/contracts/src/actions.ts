import { typed } from './type-of.ts';
import { SYNC_ID_PATTERN } from './ids.ts';
import { timestamp, uuid } from './parts.ts';

export const ACTIONS = ['INSERT', 'UPDATE', 'DELETE', 'ARCHIVE', 'UNARCHIVE'] as const;
export type ActionName = (typeof ACTIONS)[number];

/** One-letter spelling for callers that mark themselves (see design 7). */
export const ACTION_LETTERS = {
  INSERT: 'I',
  UPDATE: 'U',
  DELETE: 'D',
  ARCHIVE: 'A',
  UNARCHIVE: 'V',
} as const satisfies Record<ActionName, string>;

/** A model record as it travels: wire field names, `id`, `createdAt`, `updatedAt` always present. */
export type ModelRecord = { readonly id: string } & { readonly [field: string]: unknown };

/** A log entry as clients see it: section 2 of the specification, with actions in words. */
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
 * A log entry as services see it. `record` is the full record after the change (before it, for DELETE): what webhooks
 * and history need. `data` is what the wire shows.
 */
export interface StoredEntry extends SyncAction {
  /** Fixed at commit: the webhook-id of every delivery made from this entry. */
  readonly eventId: string;
  /** Null for an entry that belongs to no workspace, such as a person's own profile. */
  readonly workspaceId: string | null;
  readonly actorId: string;
  readonly record: ModelRecord;
  /** Names of the fields whose value differs; empty on INSERT and DELETE. */
  readonly changed: readonly string[];
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

/** Any record; the description names the models and their fields in its place. */
export const modelRecordSchema = typed<ModelRecord>({
  type: 'object',
  description: 'A record of any model, whole: after the change, or before it for `DELETE`.',
});

/** Describes the letters too, which are a matter of the last step before the wire. */
export const syncActionSchema = typed<SyncAction>({
  type: 'object',
  description: 'An entry of the log.',
  additionalProperties: false,
  required: ['syncId', 'modelName', 'modelId', 'action', 'data', 'groupId', 'clientTxId', 'clientId', 'createdAt'],
  properties: {
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
  },
});

/** Where log entries travel. One stream per log; subjects carry no tenant, so a consumer can never miss one by filter. */
export const STREAM = {
  name: 'WTS_LOG',
  subject: 'wts.log',
  /** Core NATS, no durability: a committing replica hands its chunk to whichever replica relays. */
  handover: 'wts.handover',
  /** Core NATS: a credential or membership died; every cache drops it and every open socket of it closes. */
  revoked: 'wts.revoked',
  /** Core NATS: what each gateway counted, so that all count together. */
  rates: 'wts.rates',
  duplicateWindowMs: 120_000,
  maxAgeMs: 24 * 60 * 60 * 1000,
} as const;

/** Message on `STREAM.revoked`. */
export interface Revocation {
  readonly kind: 'credential' | 'membership';
  readonly credentialId?: string;
  readonly userId?: string;
  readonly workspaceId?: string;
}
