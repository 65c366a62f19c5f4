import { inversesOf, MODELS, relationsOf, type Model, type Relation } from '@wts/models';
import { connectionArguments } from './connections.ts';
import { fieldsOf } from '../../domain/fields.ts';
import { block, entriesOf, field, type Entries } from '../sdl.ts';
import { ENUMS, typeNameOf } from './names.ts';

/*
 * The object types: each field of a model, the records it refers to, and the records that refer to it.
 */

/** Further fields of types, which the registry does not have. Each has a resolver. */
const MORE: Readonly<Record<string, Entries>> = {
  Task: {
    'repeatText: String':
      'How it repeats, in words: `every Monday and Thursday, after completion`. Null when it does not repeat.',
    'key: String! @deprecated(reason: "Use number. Kept for clients that select it.")': '`number` as text.',
    'headingId: ID @deprecated(reason: "Tasks have no headings, so it is always null. Kept for clients that select it.")':
      'Null: tasks have no headings.',
  },
  Workspace: {
    'viewerRole: WorkspaceMemberRole': 'The role of the person who calls; null when their membership has just ended.',
    'role: WorkspaceMemberRole @deprecated(reason: "Use viewerRole, which says whose role it is. Kept for clients that select it.")':
      'The role of the person who calls.',
  },
};

export const OBJECT_TYPE_DEFS: string = [
  block('A record. `node(id)` finds any of them.', 'interface Node', { 'id: ID!': 'Unique identifier.' }),
  ...ENUMS.map(({ name, doc, values }) =>
    block(
      doc,
      `enum ${name}`,
      entriesOf(values, (value) => [value, wordsOf(value)]),
    ),
  ),
  ...MODELS.map((model) =>
    block(model.doc, `type ${model.name} implements Node`, {
      ...entriesOf(fieldsOf(model), ([name, served]) => [
        `${name}: ${typeNameOf(model, name, served)}${served.nullable ? '' : '!'}`,
        served.doc,
      ]),
      ...entriesOf(relationsOf(model), (relation) => relationEntry(model, relation)),
      ...entriesOf(inversesOf(model), ({ name, source, field: of }) => [
        field(`${name}: ${source.name}Connection!`, connectionArguments(source)),
        `${source.name} records whose \`${of}\` ${source.fields[of]?.reference?.many === true ? 'include' : 'is'} this.`,
      ]),
      ...MORE[model.name],
    }),
  ),
].join('\n\n');

/** A single record is nullable in every case, because it may be deleted, or lost from sight, while the query runs. */
function relationEntry(model: Model, { name, field: of, target, many }: Relation): [string, string] {
  if (many)
    return [
      field(`${name}: ${target.name}Connection!`, connectionArguments(target)),
      `The ${target.plural} in \`${of}\`.`,
    ];
  const { doc = '' } = model.fields[of] ?? {};
  return [`${name}: ${target.name}`, `${doc} Null when there is none, or when you may not see it.`];
}

function wordsOf(value: string): string {
  const words = value.replaceAll('_', ' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}
