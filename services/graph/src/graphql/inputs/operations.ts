import { MODELS, RANK_FIELD, setChangesOf, singularOf, type Model } from '@wts/models';

/** What clients may do with the records of a model, from its declaration. */
export interface Operations {
  readonly model: Model;
  /** The name of one record: `task`. */
  readonly noun: string;
  readonly create: boolean;
  readonly update: boolean;
  /** Complete and reopen. */
  readonly complete: boolean;
  /** Skip an occurrence of what repeats. */
  readonly skip: boolean;
  /** Archive and unarchive. */
  readonly archive: boolean;
  readonly delete: boolean;
  /** Its records have a rank, so that one can be placed before or after another. */
  readonly place: boolean;
}

function operationsOf(model: Model): Operations {
  const { fields, permissions, archivable, audience } = model;
  const isChanged = permissions.update !== 'service';
  return {
    model,
    noun: singularOf(model),
    create: permissions.insert !== 'service',
    update: isChanged && (changeableOf(model).length > 0 || setChangesOf(model).length > 0),
    complete: isChanged && fields['completedAt'] !== undefined,
    // A model with a permission of its own for it has mutations of its own: `workspaceDelete`.
    archive: isChanged && archivable && permissions.archive === undefined,
    skip: isChanged && model.commands['repeatSkip'] !== undefined,
    // `memberRemove` ends a membership of a workspace, and the access of the person with it.
    delete: permissions.delete !== 'service' && !(audience.kind === 'membership' && audience.field === 'workspaceId'),
    place: isChanged && fields[RANK_FIELD] !== undefined,
  };
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
export const OPERATIONS: readonly Operations[] = MODELS.map(operationsOf).filter(
  (operations) => operations.create || operations.update || operations.delete,
);

/** The verbs of the mutations that a model has: `Create` of `taskCreate`. */
export function verbsOf({ create, update, complete, skip, archive, delete: isDeleted }: Operations): string[] {
  return [
    ...(create ? ['Create'] : []),
    ...(update ? ['Update'] : []),
    ...(complete ? ['Complete', 'Reopen'] : []),
    ...(skip ? ['Skip'] : []),
    ...(archive ? ['Archive', 'Unarchive'] : []),
    ...(isDeleted ? ['Delete'] : []),
  ];
}

/** The mutations that change one record each. */
export const SINGLE_CHANGES: ReadonlySet<string> = new Set(
  OPERATIONS.flatMap((operations) => verbsOf(operations).map((verb) => `${operations.noun}${verb}`)),
);
