import type { Field } from './field.ts';

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
export type Permission =
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

export interface Model {
  readonly name: string;
  readonly table: string;
  readonly doc: string;
  readonly fields: Readonly<Record<string, Field>>;
  readonly archivable: boolean;
  readonly audience: Audience;
  readonly permissions: { readonly insert: Permission; readonly update: Permission; readonly delete: Permission };
  /** No two records share the values of these fields; `groupId` stands for those who see them. */
  readonly unique: readonly (readonly string[])[];
  /** Field of the person whose work it is, for `own` and `author`. */
  readonly owners: readonly string[];
  /** Noun of its webhook events, where it has some. */
  readonly event?: 'task' | 'project' | 'comment';
}

/** Declares a model; see `models/task.ts` for the fullest example. */
export function model(
  declaration: Omit<Model, 'archivable' | 'unique' | 'owners'> &
    Partial<Pick<Model, 'archivable' | 'unique' | 'owners'>>,
): Model {
  return { archivable: false, unique: [], owners: [], ...declaration };
}
