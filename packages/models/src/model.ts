import type { Field, ValueOf } from './field.ts';

/** Whose eyes a record is for. Every action of the log belongs to exactly one group: a workspace, a person, a private project. */
export type Audience =
  /** The record is itself the group: a Workspace. */
  | { readonly kind: 'self' }
  /** A person: their own group, and each workspace they belong to; those they left keep them as they were. */
  | { readonly kind: 'person' }
  /** The workspace named by `workspaceId`. */
  | { readonly kind: 'workspace' }
  /** The workspace, or the project named by `field` when that project is private. */
  | { readonly kind: 'project'; readonly field: 'id' | 'projectId' }
  /** Whatever the parent's group is. */
  | { readonly kind: 'parent'; readonly field: string }
  /** The group of what one is a member of, and the group of the person. */
  | { readonly kind: 'membership'; readonly field: string };

/**
 * Who may make a change, beyond having scope `write` and belonging to the workspace. Which roles hold `manage`,
 * `contribute`, `own` and `anyone` stands in the table of `@wts/access`.
 *
 * `service`: only other services, which have decided it · `author`: whoever wrote it · `author_or_manage` · `self`: the
 * person it describes · `self_or_manage` · `project`: who manages, and who created or leads the project · `self_or_project`
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
  | 'project'
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
    readonly delete: ModelPermission;
  };
  /** No two records share the values of these fields; `groupId` stands for those who see them. */
  readonly unique?: readonly (readonly string[])[];
  /** Fields of the persons whose work it is, for `own` and `author`. */
  readonly owners?: readonly string[];
  /** Noun of its webhook events, where it has some. */
  readonly event?: 'task' | 'project' | 'comment';
}

/** Without arguments: any model. `typeof Task` is the model of tasks, with its fields and their types. */
export interface Model<
  Name extends string = string,
  Fields extends DeclaredFields = DeclaredFields,
  Archivable extends boolean = boolean,
> extends Declaration<Name, Fields, Archivable> {
  readonly archivable: Archivable;
  readonly unique: readonly (readonly string[])[];
  readonly owners: readonly string[];
}

/** Declares a model; see `models/task.ts` for the fullest example. */
export function model<
  const Name extends string,
  Fields extends DeclaredFields,
  const Archivable extends boolean = false,
>(declaration: Declaration<Name, Fields, Archivable>): Model<Name, Fields, Archivable> {
  return { unique: [], owners: [], ...declaration, archivable: (declaration.archivable ?? false) as Archivable };
}

/** A record of a model: its declared fields and those that the server keeps. `RecordOf<Model>`: a record of any model. */
export type RecordOf<M extends Model> = ServerFields &
  Archived<M['archivable']> & { readonly [Field in keyof M['fields']]: ValueOf<M['fields'][Field]> };

type ServerFields = Readonly<Record<'id' | 'createdAt' | 'updatedAt', string>>;

type Archived<Archivable extends boolean> = boolean extends Archivable
  ? { readonly archivedAt?: string | null }
  : Archivable extends true
    ? { readonly archivedAt: string | null }
    : unknown;

/** Whether something belongs to this model; the type of its record follows. */
export function isOf<Of extends { readonly model: Model; readonly record: RecordOf<Model> }, M extends Model>(
  one: Of,
  model: M,
): one is Of & { readonly record: RecordOf<M> } {
  return one.model === (model as Model);
}
