import type { Field, ValueOf } from './field.ts';

/** The group of a model's records. Every entry of the log has exactly one group: a workspace, a person, a private project. */
export type Audience =
  /** The record is itself the group: a Workspace. */
  | { readonly kind: 'self' }
  /** A person: their own group, and each of their workspaces; a workspace that they left keeps the last state. */
  | { readonly kind: 'person' }
  /** The workspace named by `workspaceId`. */
  | { readonly kind: 'workspace' }
  /** The workspace, or the project named by `field` when that project is private. */
  | { readonly kind: 'project'; readonly field: 'id' | 'projectId' }
  /** The parent's group. */
  | { readonly kind: 'parent'; readonly field: string }
  /** The group of the workspace or project, and the group of the person. */
  | { readonly kind: 'membership'; readonly field: string };

/**
 * The permission for a change, besides the scope of the model and a membership of the workspace. The table of `@wts/access` has the roles
 * for `manage`, `contribute`, `own` and `anyone`.
 *
 * `service`: only other services, which check it · `author`: the person who wrote it · `author_or_manage` · `self`: the person it is
 * about · `self_or_manage` · `owner`: owners of the workspace · `project`: managers, and the creator and the lead of the project
 * · `project_if_private`: the same for a private project, else `contribute` · `self_or_project`
 */
export type ModelPermission =
  | 'service'
  | 'manage'
  | 'contribute'
  | 'own'
  | 'anyone'
  | 'author'
  | 'author_or_manage'
  | 'self'
  | 'self_or_manage'
  | 'owner'
  | 'project'
  | 'project_if_private'
  | 'self_or_project';

type DeclaredFields = Readonly<Record<string, Field>>;

interface Declaration<Name extends string, Fields extends DeclaredFields, Archivable extends boolean> {
  readonly name: Name;
  readonly table: string;
  readonly doc: string;
  readonly fields: Fields;
  readonly archivable?: Archivable;
  readonly audience: Audience;
  readonly permissions: {
    readonly insert: ModelPermission;
    readonly update: ModelPermission;
    /** Archiving and restoring, where not who may change a record may archive it. */
    readonly archive?: ModelPermission;
    readonly delete: ModelPermission;
  };
  /** For each change that only services make: how people come by it instead, as the sentence of the refusal. */
  readonly instead?: Partial<Readonly<Record<'insert' | 'update' | 'delete', string>>>;
  /** The scope that a credential needs for changes; `admin` for workspaces and their people. Default: `write`. */
  readonly scope?: 'write' | 'admin';
  /** No two records have the same values of these fields; `groupId` is the group of the record. */
  readonly unique?: readonly (readonly string[])[];
  /** Fields with the owners of a record, for `own` and `author`. */
  readonly owners?: readonly string[];
  /** What several are called where the model is a name. Default: the model's name with an `s`, as `tasks`. */
  readonly plural?: string;
  /** Fields with the words by which people find a record; the first is its title. */
  readonly search?: readonly string[];
  /** The field whose value a client repeats to archive a record, because it hides much. */
  readonly confirmedBy?: string;
  /** Further indexes of its table: columns and condition by name. */
  readonly indexes?: Readonly<Record<string, string>>;
  /** Keys of an update that name no field and do something to the record, when they are `true` or its day, each with what it does. */
  readonly commands?: Readonly<Record<string, string>>;
  /** Fields that may be null, and by which the records with a value have an index: pages in that order read no others. */
  readonly orders?: readonly string[];
  /** The noun of its webhook events, where it has any. */
  readonly event?: 'task' | 'project' | 'comment';
}

/** Without type arguments: any model. `typeof Task` is the model of tasks, with its fields and their types. */
export interface Model<
  Name extends string = string,
  Fields extends DeclaredFields = DeclaredFields,
  Archivable extends boolean = boolean,
> extends Declaration<Name, Fields, Archivable> {
  readonly archivable: Archivable;
  readonly scope: 'write' | 'admin';
  readonly unique: readonly (readonly string[])[];
  readonly owners: readonly string[];
  readonly plural: string;
  readonly search: readonly string[];
  readonly indexes: Readonly<Record<string, string>>;
  readonly commands: Readonly<Record<string, string>>;
  readonly orders: readonly string[];
}

/** Declares a model; see `models/task.ts` for the fullest example. */
export function model<
  const Name extends string,
  Fields extends DeclaredFields,
  const Archivable extends boolean = false,
>(declaration: Declaration<Name, Fields, Archivable>): Model<Name, Fields, Archivable> {
  const plural = `${declaration.name.charAt(0).toLowerCase()}${declaration.name.slice(1)}s`;
  return {
    scope: 'write',
    unique: [],
    owners: [],
    plural,
    search: [],
    indexes: {},
    commands: {},
    orders: [],
    ...declaration,
    archivable: (declaration.archivable ?? false) as Archivable,
  };
}

/** A record of a model: its declared fields and those of the server. `RecordOf<Model>`: a record of any model. */
export type RecordOf<M extends Model> = ServerFields &
  Archived<M['archivable']> & { readonly [Field in keyof M['fields']]: ValueOf<M['fields'][Field]> };

type ServerFields = Readonly<Record<'id' | 'createdAt' | 'updatedAt', string>>;

type Archived<Archivable extends boolean> = boolean extends Archivable
  ? { readonly archivedAt?: string | null }
  : Archivable extends true
    ? { readonly archivedAt: string | null }
    : unknown;

/** Whether this is of the model; narrows the type of its record. */
export function isOf<Of extends { readonly model: Model; readonly record: RecordOf<Model> }, M extends Model>(
  one: Of,
  model: M,
): one is Of & { readonly record: RecordOf<M> } {
  return one.model === (model as Model);
}
