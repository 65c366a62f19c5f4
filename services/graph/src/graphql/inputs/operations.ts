import { MODELS, RANK_FIELD, setChangesOf, singularOf, type Model } from '@wts/models';
import type { Step } from '../../commands/changes.ts';

/** What a mutation of a model does: `Create` of `taskCreate`. */
export type Verb = 'Create' | 'Update' | Step;

/** What clients may do with the records of a model, from its declaration. */
export interface Operations {
  readonly model: Model;
  /** The name of one record: `task`. */
  readonly noun: string;
  readonly verbs: ReadonlySet<Verb>;
  /** Its records have a rank, so that one can be placed before or after another. */
  readonly place: boolean;
}

function operationsOf(model: Model): Operations {
  const { fields, permissions, archivable, audience, commands } = model;
  const isChanged = permissions.update !== 'service';
  const isCompleted = isChanged && fields['completedAt'] !== undefined;
  // A model with a permission of its own for it has mutations of its own: `workspaceDelete`.
  const isArchived = isChanged && archivable && permissions.archive === undefined;
  const has: Readonly<Record<Verb, boolean>> = {
    Create: permissions.insert !== 'service',
    Update: isChanged && (changeableOf(model).length > 0 || setChangesOf(model).length > 0),
    Complete: isCompleted,
    Reopen: isCompleted,
    Skip: isChanged && commands['repeatSkip'] !== undefined,
    Archive: isArchived,
    Unarchive: isArchived,
    // `memberRemove` ends a membership of a workspace, and the access of the person with it.
    Delete: permissions.delete !== 'service' && !(audience.kind === 'membership' && audience.field === 'workspaceId'),
  };
  const verbs = new Set((Object.keys(has) as Verb[]).filter((verb) => has[verb]));
  return { model, noun: singularOf(model), verbs, place: isChanged && fields[RANK_FIELD] !== undefined };
}

/** Whether its records are hidden with an archived project that they belong to. */
export function isHiddenByProject({ audience }: Model): boolean {
  return audience.kind === 'project' && audience.field === 'projectId';
}

/** The fields that a client gives in a new record. */
export function givenOf({ fields }: Model): string[] {
  return Object.keys(fields).filter((name) => fields[name]?.assigned === undefined);
}

/** The fields that a client may change later. */
export function changeableOf(model: Model): string[] {
  return givenOf(model).filter((name) => !model.fields[name]?.immutable);
}

/** Every model that clients write. A model of the registry is here by its permissions. */
export const OPERATIONS: readonly Operations[] = MODELS.map(operationsOf).filter(({ verbs }) => verbs.size > 0);

/** The mutations that change one record each. */
export const SINGLE_CHANGES: ReadonlySet<string> = new Set(
  OPERATIONS.flatMap(({ noun, verbs }) => [...verbs].map((verb) => `${noun}${verb}`)),
);
