import { setChangesOf, type Field, type Model } from '@wts/models';
import { LIMITS } from '@wts/contracts';
import { block, entriesOf, ERROR, field, type Entries } from '../sdl.ts';
import { typeNameOf } from '../types/names.ts';
import { changeableOf, givenOf, isHiddenByProject, type Operations, type Verb } from './operations.ts';

/*
 * The inputs, results and mutations of the models, from the registry: a field that is added there is in them without another line.
 * Keeps graphql.client.generated and graphql.client.strata.
 */

export const PLACE_TYPE_DEF = block(
  'A place in an ordered list. Give one of the two, or both for the place between them.',
  'input PlaceInput',
  { 'before: ID': 'The record that comes after this one.', 'after: ID': 'The record that comes before this one.' },
);

const CLIENT_ID: Entries = {
  'clientId: String': 'Your name for the device or process that the change is from. Default: `graphql`.',
};

/** Arguments of every change of one record. */
export const SENT_AGAIN: Entries = {
  'clientTxId: String': `Your name for this change, at most 128 characters. Sent again within ${LIMITS.idempotencyDays} days, it gets the first answer and is not applied twice.`,
  ...CLIENT_ID,
};

const SENT_AGAIN_BATCH: Entries = {
  'clientTxId: String': `Your name for this batch, at most 120 characters: each change is named by it and its index, as \`name:0\`. Sent again within ${LIMITS.idempotencyDays} days, each gets its first answer and is not applied twice.`,
  ...CLIENT_ID,
};

export function inputTypeDefs(operations: Operations): string[] {
  const { verbs } = operations;
  return [
    ...(verbs.has('Create') ? [createInput(operations)] : []),
    ...(verbs.has('Update') ? [updateInput(operations)] : []),
    payload(operations),
    batchPayload(operations),
  ];
}

function createInput({ model, place }: Operations): string {
  return block(`A new ${model.name}.`, `input ${model.name}CreateInput`, {
    'id: ID': `The id of the new ${model.name}: a new UUID. Choose one, and the same ${model.name} is not created twice. Default: the server chooses.`,
    ...entriesOf(givenOf(model), (name) => {
      const declared = fieldOf(model, name);
      const { doc, initial, immutable } = declared;
      const fixed = immutable ? ' It cannot be changed later.' : '';
      const byDefault = (initial ?? null) === null ? '' : ` Default: \`${JSON.stringify(initial)}\`.`;
      const type = typeNameOf(model, name, declared);
      return [`${name}: ${type}${initial === undefined ? '!' : ''}`, `${doc}${fixed}${byDefault}`];
    }),
    ...(place && PLACE),
  });
}

function updateInput({ model, place }: Operations): string {
  const sets = setChangesOf(model);
  return block(
    `Changes of a ${model.name}. Fields that are not given stay as they are; null removes a value.`,
    `input ${model.name}UpdateInput`,
    {
      ...entriesOf(changeableOf(model), (name) => {
        const declared = fieldOf(model, name);
        return [`${name}: ${typeNameOf(model, name, declared)}`, declared.doc];
      }),
      ...entriesOf(sets, ({ field, added }) => [
        `${added}: [ID!]`,
        `Ids to add to \`${field}\`. Concurrent additions are all kept.`,
      ]),
      ...entriesOf(sets, ({ field, removed }) => [`${removed}: [ID!]`, `Ids to remove from \`${field}\`.`]),
      ...entriesOf(Object.entries(model.commands), ([name, doc]) => [`${name}: Boolean`, doc]),
      ...(place && PLACE),
    },
  );
}

const PLACE: Entries = {
  'place: PlaceInput': 'Its place among the others, by which `sortOrder` is computed. It replaces `sortOrder`.',
};

const LAST_SYNC_ID: Entries = {
  'lastSyncId: String!': 'The highest position that the request has reached; `0` when nothing was changed.',
};

function payload({ model, noun, verbs }: Operations): string {
  const { name } = model;
  return block(`The result of a change of one ${name}.`, `type ${name}Payload`, {
    'success: Boolean!': 'Whether the change was accepted.',
    'syncId: String':
      'The position of the change in the log: when your deltas or your socket have reached it, you have this change. Null for a refused change.',
    ...LAST_SYNC_ID,
    [`${noun}: ${name}`]: `The ${name} after the change, or as it was before it was deleted.`,
    ...(isHiddenByProject(model) && {
      'hiddenBy: ID': `The archived project that hides the ${name}: a restored one is in no list until the project is restored too. Null where it is shown.`,
    }),
    // What only the results of changes of what repeats have.
    ...(verbs.has('Skip') && {
      [`next: ${name}`]: `The newest ${name} of its series, such as the one after one that was completed; null when it is itself the newest.`,
      'seriesEnded: Boolean!': 'Whether it was deleted as the newest one of a series, which ends the series.',
    }),
    ...ERROR,
  });
}

function batchPayload({ model: { name, plural }, noun }: Operations): string {
  return block(
    `The results of changes of several ${name} records, in the order of the request. One that is refused does not stop the others.`,
    `type ${name}BatchPayload`,
    {
      'success: Boolean!': 'Whether all of them were accepted.',
      ...LAST_SYNC_ID,
      [`results: [${name}Payload!]!`]: 'One for each, in the same order.',
      [`${plural}: [${name}!]!`]: 'The accepted records.',
      'error: MutationError': `Why the ${noun} batch as a whole was refused; null otherwise.`,
    },
  );
}

/** A mutation of one record and of several, without the arguments about repetition. */
interface Declared {
  readonly doc: string;
  readonly args: Entries;
  readonly several?: string;
  readonly argsOfSeveral?: Entries;
}

/** The mutations of a model, one record at a time and in batches. */
export function mutationEntries(operations: Operations): Entries {
  const { model, noun, verbs } = operations;
  const { name } = model;
  const declared = declaredBy(operations);
  const many = `At most ${LIMITS.graphBatchMax}.`;
  const ids: Entries = { 'ids: [ID!]!': `The ids of the ${name} records. ${many}` };
  return {
    ...entriesOf([...verbs], (verb) => {
      const { doc, args } = declared[verb];
      const ofSeries = verbs.has('Skip') ? OF_SERIES[verb] : undefined;
      return [
        field(`${noun}${verb}: ${name}Payload!`, { ...args, ...SENT_AGAIN }),
        ofSeries === undefined ? doc : `${doc} ${ofSeries}`,
      ];
    }),
    ...entriesOf([...verbs], (verb) => {
      const { several = `${verb}s several ${name} records.`, argsOfSeveral = {} } = declared[verb];
      const args = verb === 'Create' ? { [`inputs: [${name}CreateInput!]!`]: `The new records. ${many}` } : ids;
      return [
        field(`${noun}Batch${verb}: ${name}BatchPayload!`, { ...args, ...argsOfSeveral, ...SENT_AGAIN_BATCH }),
        `${several} Each has its own result.`,
      ];
    }),
  };
}

/** What the changes of a record do to the series whose newest one it is. */
const OF_SERIES: Readonly<Partial<Record<Verb, string>>> = {
  Complete: 'When it has a `repeatRule`, the next one is created in the same change.',
  Archive: 'A series whose newest one is archived pauses until that is restored.',
  Delete: 'Deleting the newest one of a series ends the series.',
};

function declaredBy(operations: Operations): Readonly<Record<Verb, Declared>> {
  const { name } = operations.model;
  const id = { 'id: ID!': `The id of the ${name}.` };
  const [create, update] = [`input: ${name}CreateInput!`, `input: ${name}UpdateInput!`];
  return {
    Create: { doc: `Creates a ${name}.${exampleOf(operations)}`, args: { [create]: `The new ${name}.` } },
    Update: {
      doc: `Changes a ${name}.`,
      args: { ...id, [update]: 'What to change.' },
      several: `Makes the same change in several ${name} records.`,
      argsOfSeveral: { [update]: 'What to change in each of them.' },
    },
    Complete: { doc: `Completes a ${name}: sets \`completedAt\` to the time of the request.`, args: id },
    Reopen: { doc: `Reopens a ${name}: sets \`completedAt\` to null.`, args: id },
    Skip: {
      doc: `Skips an occurrence of a ${name} that repeats: its dates move to the next day of its rule, and it stays open.`,
      args: {
        ...id,
        'day: Date': `The day to skip, as the ${name} has it: one that others have skipped already changes nothing.`,
      },
    },
    Archive: { doc: `Archives a ${name}. Lists leave it out from then on, unless \`includeArchived\`.`, args: id },
    Unarchive: { doc: `Restores a ${name} that is archived.`, args: id },
    Delete: { doc: `Deletes a ${name} with everything in it. It cannot be undone.`, args: id },
  };
}

/** An example of the fields that a new record needs. */
function exampleOf({ model, noun }: Operations): string {
  const needed = givenOf(model).filter((name) => fieldOf(model, name).initial === undefined);
  const given = needed.map((name) => `${name}: ${fieldOf(model, name).reference ? '"<id>"' : '"..."'}`).join(', ');
  return ` Example: \`mutation { ${noun}Create(input: {${given}}) { success syncId ${noun} { id } error { code message } } }\``;
}

function fieldOf(model: Model, name: string): Field {
  const declared = model.fields[name];
  if (!declared) throw new Error(`${model.name} has no field ${name}`);
  return declared;
}
