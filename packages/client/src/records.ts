/** The types of records, changes and entries by the names of their models, for the names that this version of the client knows. */
import type { EventType } from './codes.ts';
import type { Models } from './models.ts';

export type ModelName = keyof Models;

/** A record as the service sends it: `RecordOf<'Task'>`. */
export type RecordOf<Name extends ModelName> = Models[Name]['record'];

type ServerField = 'id' | 'createdAt' | 'updatedAt' | 'archivedAt';
type SettableOf<Name extends ModelName> = WithPlacement<Omit<RecordOf<Name>, ServerField | Models[Name]['assigned']>>;

/** The records of its list between which a record goes: the service computes its rank when it commits the change. */
export interface Placement {
  readonly after?: string | null;
  readonly before?: string | null;
}

type WithPlacement<Fields> = {
  readonly [Name in keyof Fields]: Name extends 'sortOrder' ? Fields[Name] | Placement : Fields[Name];
};

/** The payload that creates a record. Fields that are left out get their default. */
export type InsertOf<Name extends ModelName> = Partial<SettableOf<Name>> &
  Pick<RecordOf<Name>, Models[Name]['needed'] & keyof RecordOf<Name>>;

/** The payload that changes a record. `addedLabelIds` and the like change single members of a set; `repeatSkip` skips an occurrence. */
export type UpdateOf<Name extends ModelName> = Partial<Omit<SettableOf<Name>, Models[Name]['fixed']>> & {
  readonly [Field in Models[Name]['sets']]?: readonly string[];
} & {
  readonly [Command in Models[Name]['commands']]?: true | string;
};

type ActionName = 'INSERT' | 'UPDATE' | 'DELETE' | 'ARCHIVE' | 'UNARCHIVE';

interface ChangeAddress {
  readonly modelId: string;
  /** Set it for changes that are stored beyond this process: a repetition with the same id is applied once. */
  readonly clientTxId?: string;
}

interface ChangePayloads<Name extends ModelName> {
  readonly INSERT: { readonly payload: InsertOf<Name> };
  readonly UPDATE: { readonly payload: UpdateOf<Name> };
}

type ChangeBy<Name extends ModelName, Action extends ActionName> = ChangeAddress & {
  readonly modelName: Name;
  readonly action: Action;
} & (Action extends keyof ChangePayloads<Name>
    ? ChangePayloads<Name>[Action]
    : { readonly payload?: Readonly<Record<string, never>> });

/** One change of a record of one model, or of any; the client adds a `clientTxId` where there is none. */
export type Change<Name extends ModelName = ModelName> = {
  [One in Name]: { [Action in Models[One]['actions']]: ChangeBy<One, Action> }[Models[One]['actions']];
}[Name];

/** An accepted change with its record. */
export type AcceptedChange<Name extends ModelName = ModelName> = {
  [One in Name]: {
    readonly clientTxId: string;
    readonly syncId: string;
    readonly modelName: One;
    readonly modelId: string;
    readonly action: ActionName;
    /** The whole record after the change, or before it for DELETE. */
    readonly record: RecordOf<One>;
  };
}[Name];

/** A record of a snapshot: `__class` tells the model. */
export type SnapshotRecord<Name extends ModelName = ModelName> = {
  [One in Name]: { readonly __class: One } & RecordOf<One>;
}[Name];

interface EntryFacts {
  /** The position in the log: larger is later. Compare as `BigInt`. */
  readonly syncId: string;
  readonly modelId: string;
  /** The workspace, the private project or the person whose entry it is. */
  readonly groupId: string;
  readonly clientTxId: string;
  readonly clientId: string;
  readonly createdAt: string;
}

type EntryData<Name extends ModelName> =
  | { readonly action: 'INSERT'; readonly data: RecordOf<Name> }
  | { readonly action: 'UPDATE'; readonly data: Partial<RecordOf<Name>> & Pick<RecordOf<Name>, 'updatedAt'> }
  | { readonly action: 'ARCHIVE' | 'UNARCHIVE'; readonly data: { readonly archivedAt: string | null } }
  | { readonly action: 'DELETE'; readonly data: Readonly<Record<string, undefined>> };

/** An entry of the log. `modelName` and `action` tell the type of `data`: for UPDATE the changed fields. */
export type SyncAction<Name extends ModelName = ModelName> = {
  [One in Name]: EntryFacts & { readonly modelName: One } & EntryData<One>;
}[Name];

type EventObject<Type extends EventType> = Type extends `${infer Noun}.${string}`
  ? Capitalize<Noun> extends ModelName
    ? RecordOf<Capitalize<Noun>>
    : Readonly<Record<string, unknown>>
  : never;

/** The body of a delivery. `type` tells the type of `data.object`. */
export type WebhookEvent<Type extends EventType = EventType> = {
  [One in Type]: {
    readonly id: string;
    readonly type: One;
    readonly createdAt: string;
    readonly apiVersion: string;
    readonly workspaceId: string;
    /** The position in the log: of two events, the larger one is newer. Null for `endpoint.test`. */
    readonly syncActionId: string | null;
    readonly data: {
      /** The whole record after the change, or before it for `*.deleted`. */
      readonly object: EventObject<One>;
      /** Names of the changed fields; empty on creates, deletes and tests. */
      readonly changes: readonly string[];
    };
  };
}[Type];
