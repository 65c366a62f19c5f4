import type { Model } from './model.ts';
import { Comment } from './models/comment.ts';
import { Label } from './models/label.ts';
import { Project, ProjectMember } from './models/project.ts';
import { Task, TaskChecklistItem } from './models/task.ts';
import { Team, TeamMember } from './models/team.ts';
import { User } from './models/user.ts';
import { Workspace } from './models/workspace.ts';
import { WorkspaceMember } from './models/workspace-member.ts';
import { quoteName } from './quote-name.ts';

/**
 * All synced models in order of dependence (parents first). Rows are locked, written and bootstrapped in this order, so that commits
 * cannot deadlock.
 */
export const MODELS: readonly Model[] = [
  Workspace,
  User,
  WorkspaceMember,
  Team,
  TeamMember,
  Project,
  ProjectMember,
  Label,
  Task,
  TaskChecklistItem,
  Comment,
];

export const MODEL_NAMES = MODELS.map((declared) => declared.name);

const byName = new Map(MODELS.map((declared) => [declared.name, declared]));

export function findModel(name: string): Model | undefined {
  return byName.get(name);
}

/** The error text for an unknown model name. */
export function unknownModel(name: string): string {
  const quoted = quoteName(name);
  return `Unknown model${quoted === null ? '' : ` ${quoted}`}. Models: ${MODEL_NAMES.toSorted().join(', ')}.`;
}

/** For names in stored data. Elsewhere, import the model. */
export function modelNamed(name: string): Model {
  const declared = byName.get(name);
  if (!declared) throw new Error(`No model is named ${name}`);
  return declared;
}

/** The model of the records that a reference points to. */
export function targetOf(declared: Model, field: string): Model {
  const reference = declared.fields[field]?.reference;
  if (!reference) throw new Error(`${declared.name}.${field} is no reference`);
  return modelNamed(reference.model);
}

/** A reference to a model, and the effect on its records when the referenced record is deleted. */
export interface Dependent {
  readonly model: Model;
  readonly field: string;
  readonly many: boolean;
  readonly onDelete: 'delete' | 'clear';
}

const dependents = new Map<string, Dependent[]>();
for (const declared of MODELS) {
  for (const [field, { reference }] of Object.entries(declared.fields)) {
    if (!reference || reference.onDelete === 'keep') continue;
    const list = dependents.getOrInsertComputed(reference.model, () => []);
    list.push({ model: declared, field, many: reference.many, onDelete: reference.onDelete });
  }
}

export function dependentsOf(target: Model): readonly Dependent[] {
  return dependents.get(target.name) ?? [];
}

/** The fields that a batch read may filter by, each with an index: the id, every reference a client sets, and other ids with an index. */
export function indexedKeysOf(declared: Model): readonly string[] {
  return [
    'id',
    ...Object.entries(declared.fields).flatMap(([name, { reference, assigned, isIndexed }]) =>
      isIndexed || (reference && !reference.many && !assigned) ? [name] : [],
    ),
  ];
}
