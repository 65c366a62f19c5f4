import { inversesOf, MODELS, relationsOf, type Model, type Relation } from '@wts/models';
import { connectionArguments } from './connections.ts';
import { fieldsOf } from '../../domain/fields.ts';
import { described, ENUMS, typeNameOf } from './names.ts';

/*
 * The object types: each field of a model, the records it refers to, and the records that refer to it.
 */

/** Further fields of types, which the registry does not have. Each has a resolver. */
const MORE: Readonly<Record<string, string>> = {
  Task: `
  ${described('How it repeats, in words: `every Monday and Thursday, after completion`. Null when it does not repeat.')}
  repeatText: String
  ${described('`number` as text.')}
  key: String! @deprecated(reason: "Use number. Kept for clients that select it.")
  ${described('Null: tasks have no headings.')}
  headingId: ID @deprecated(reason: "Tasks have no headings, so it is always null. Kept for clients that select it.")`,
  Workspace: `
  ${described('The role of the person who calls; null when their membership has just ended.')}
  viewerRole: WorkspaceMemberRole
  ${described('The role of the person who calls.')}
  role: WorkspaceMemberRole @deprecated(reason: "Use viewerRole, which says whose role it is. Kept for clients that select it.")`,
};

export const OBJECT_TYPE_DEFS: string = [
  `${described('A record. `node(id)` finds any of them.')}
interface Node {
  ${described('Unique identifier.')}
  id: ID!
}`,
  ...ENUMS.map(
    ({ name, doc, values }) =>
      `${described(doc)}\nenum ${name} {\n${values.map((value) => `  ${described(wordsOf(value))}\n  ${value}`).join('\n')}\n}`,
  ),
  ...MODELS.map(objectSdl),
].join('\n\n');

function objectSdl(model: Model): string {
  const fields = fieldsOf(model).map(
    ([name, field]) =>
      `  ${described(field.doc)}\n  ${name}: ${typeNameOf(model, name, field)}${field.nullable ? '' : '!'}`,
  );
  const relations = relationsOf(model).map((relation) => relationSdl(model, relation));
  const inverses = inversesOf(model).map(
    ({ name, source, field }) =>
      `  ${described(`${source.name} records whose \`${field}\` ${source.fields[field]?.reference?.many === true ? 'include' : 'is'} this.`)}\n  ${name}${connectionArguments(source)}: ${source.name}Connection!`,
  );
  const more = MORE[model.name] ?? '';
  return `${described(model.doc)}\ntype ${model.name} implements Node {\n${[...fields, ...relations, ...inverses].join('\n')}${more}\n}`;
}

/** A single record is nullable in every case, because it may be deleted, or lost from sight, while the query runs. */
function relationSdl(model: Model, { name, field, target, many }: Relation): string {
  const { doc = '' } = model.fields[field] ?? {};
  return many
    ? `  ${described(`The ${target.plural} in \`${field}\`.`)}\n  ${name}${connectionArguments(target)}: ${target.name}Connection!`
    : `  ${described(`${doc} Null when there is none, or when you may not see it.`)}\n  ${name}: ${target.name}`;
}

function wordsOf(value: string): string {
  const words = value.replaceAll('_', ' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}
