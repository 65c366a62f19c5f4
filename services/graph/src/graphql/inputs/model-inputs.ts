import { setChangesOf, type Field, type Model } from '@wts/models';
import { LIMITS } from '@wts/contracts';
import { typeNameOf } from '../types/names.ts';
import { changeableOf, givenOf, isHiddenByProject, verbsOf, type Operations } from './operations.ts';
import { block, entry, ERROR, field } from './sdl.ts';

/*
 * The inputs, results and mutations of the models, from the registry: a field that is added there is in them without another line.
 * Keeps graphql.client.generated and graphql.client.strata.
 */

export const PLACE_TYPE_DEF = block(
  'A place in an ordered list. Give one of the two, or both for the place between them.',
  'input PlaceInput',
  [
    entry('The record that comes after this one.', 'before: ID'),
    entry('The record that comes before this one.', 'after: ID'),
  ],
);

/** Arguments of every change of one record. */
export const SENT_AGAIN = [
  entry(
    `Your name for this change, at most 128 characters. Sent again within ${LIMITS.idempotencyDays} days, it gets the first answer and is not applied twice.`,
    'clientTxId: String',
  ),
  entry('Your name for the device or process that the change is from. Default: `graphql`.', 'clientId: String'),
];

const SENT_AGAIN_BATCH = [
  entry(
    `Your name for this batch, at most 120 characters: each change is named by it and its index, as \`name:0\`. Sent again within ${LIMITS.idempotencyDays} days, each gets its first answer and is not applied twice.`,
    'clientTxId: String',
  ),
  SENT_AGAIN[1] ?? '',
];

export function inputTypeDefs(operations: Operations): string[] {
  const { model, noun, create, update } = operations;
  return [
    ...(create ? [createInput(operations)] : []),
    ...(update ? [updateInput(operations)] : []),
    payload(operations),
    batchPayload(model, noun),
  ];
}

function createInput({ model, place }: Operations): string {
  const entries = givenOf(model).map((name) => {
    const field = fieldOf(model, name);
    const fixed = field.immutable ? ' It cannot be changed later.' : '';
    const isNeeded = field.initial === undefined;
    const initial =
      field.initial === undefined || field.initial === null ? '' : ` Default: \`${JSON.stringify(field.initial)}\`.`;
    return entry(`${field.doc}${fixed}${initial}`, `${name}: ${typeNameOf(model, name, field)}${isNeeded ? '!' : ''}`);
  });
  const id = entry(
    `The id of the new ${model.name}: a new UUID. Choose one, and the same ${model.name} is not created twice. Default: the server chooses.`,
    'id: ID',
  );
  return block(`A new ${model.name}.`, `input ${model.name}CreateInput`, [id, ...entries, ...placeEntries(place)]);
}

function updateInput({ model, place }: Operations): string {
  const entries = changeableOf(model).map((name) => {
    const field = fieldOf(model, name);
    return entry(field.doc, `${name}: ${typeNameOf(model, name, field)}`);
  });
  const sets = setChangesOf(model).flatMap(({ field, added, removed }) => [
    entry(`Ids to add to \`${field}\`. Concurrent additions are all kept.`, `${added}: [ID!]`),
    entry(`Ids to remove from \`${field}\`.`, `${removed}: [ID!]`),
  ]);
  const commands = Object.entries(model.commands).map(([name, doc]) => entry(doc, `${name}: Boolean`));
  return block(
    `Changes of a ${model.name}. Fields that are not given stay as they are; null removes a value.`,
    `input ${model.name}UpdateInput`,
    [...entries, ...sets, ...commands, ...placeEntries(place)],
  );
}

function placeEntries(place: boolean): string[] {
  return place
    ? [
        entry(
          'Its place among the others, by which `sortOrder` is computed. It replaces `sortOrder`.',
          'place: PlaceInput',
        ),
      ]
    : [];
}

const SYNC_IDS = [
  entry(
    'The position of the change in the log: when your deltas or your socket have reached it, you have this change. Null for a refused change.',
    'syncId: String',
  ),
  entry('The highest position that the request has reached; `0` when nothing was changed.', 'lastSyncId: String!'),
];

/** What only the results of changes of what repeats have. */
const OF_REPEATING = (name: string): string[] => [
  entry(
    `The newest ${name} of its series, such as the one after one that was completed; null when it is itself the newest.`,
    `next: ${name}`,
  ),
  entry('Whether it was deleted as the newest one of a series, which ends the series.', 'seriesEnded: Boolean!'),
];

function payload({ model, noun, skip }: Operations): string {
  return block(`The result of a change of one ${model.name}.`, `type ${model.name}Payload`, [
    entry('Whether the change was accepted.', 'success: Boolean!'),
    ...SYNC_IDS,
    entry(`The ${model.name} after the change, or as it was before it was deleted.`, `${noun}: ${model.name}`),
    ...(isHiddenByProject(model)
      ? [
          entry(
            `The archived project that hides the ${model.name}: a restored one is in no list until the project is restored too. Null where it is shown.`,
            'hiddenBy: ID',
          ),
        ]
      : []),
    ...(skip ? OF_REPEATING(model.name) : []),
    ERROR,
  ]);
}

function batchPayload(model: Model, noun: string): string {
  return block(
    `The results of changes of several ${model.name} records, in the order of the request. One that is refused does not stop the others.`,
    `type ${model.name}BatchPayload`,
    [
      entry('Whether all of them were accepted.', 'success: Boolean!'),
      SYNC_IDS[1] ?? '',
      entry('One for each, in the same order.', `results: [${model.name}Payload!]!`),
      entry('The accepted records.', `${model.plural}: [${model.name}!]!`),
      entry(`Why the ${noun} batch as a whole was refused; null otherwise.`, 'error: MutationError'),
    ],
  );
}

/** One mutation: its description, its name and its arguments without those about repetition. */
interface Declared {
  readonly doc: string;
  readonly name: string;
  readonly args: readonly string[];
}

/** The mutations of a model, one record at a time and in batches. */
export function mutationEntries(operations: Operations): string[] {
  const { model, noun } = operations;
  const [one, several] = [`${model.name}Payload!`, `${model.name}BatchPayload!`];
  return [
    ...single(operations).map(({ doc, name, args }) => field(`${name}: ${one}`, doc, [...args, ...SENT_AGAIN])),
    ...batches(operations).map(({ doc, name, args }) =>
      field(`${noun}Batch${name}: ${several}`, doc, [...args, ...SENT_AGAIN_BATCH]),
    ),
  ];
}

/** What the changes of a record do to the series whose newest one it is. */
const OF_SERIES: Readonly<Record<string, string>> = {
  Complete: 'When it has a `repeatRule`, the next one is created in the same change.',
  Archive: 'A series whose newest one is archived pauses until that is restored.',
  Delete: 'Deleting the newest one of a series ends the series.',
};

function single(operations: Operations): Declared[] {
  const { model, noun } = operations;
  const id = entry(`The id of the ${model.name}.`, 'id: ID!');
  const create = entry(`The new ${model.name}.`, `input: ${model.name}CreateInput!`);
  const update = entry('What to change.', `input: ${model.name}UpdateInput!`);
  const declared = (kind: string, doc: string, args: readonly string[]): Declared => ({
    doc: operations.skip && kind in OF_SERIES ? `${doc} ${OF_SERIES[kind]}` : doc,
    name: `${noun}${kind}`,
    args,
  });
  return [
    ...(operations.create ? [declared('Create', `Creates a ${model.name}.${exampleOf(operations)}`, [create])] : []),
    ...(operations.update ? [declared('Update', `Changes a ${model.name}.`, [id, update])] : []),
    ...(operations.complete
      ? [
          declared('Complete', `Completes a ${model.name}: sets \`completedAt\` to the time of the request.`, [id]),
          declared('Reopen', `Reopens a ${model.name}: sets \`completedAt\` to null.`, [id]),
        ]
      : []),
    ...(operations.skip
      ? [
          declared(
            'Skip',
            `Skips an occurrence of a ${model.name} that repeats: its dates move to the next day of its rule, and it stays open.`,
            [
              id,
              entry(
                `The day to skip, as the ${model.name} has it: one that others have skipped already changes nothing.`,
                'day: Date',
              ),
            ],
          ),
        ]
      : []),
    ...(operations.archive
      ? [
          declared(
            'Archive',
            `Archives a ${model.name}. Lists leave it out from then on, unless \`includeArchived\`.`,
            [id],
          ),
          declared('Unarchive', `Restores a ${model.name} that is archived.`, [id]),
        ]
      : []),
    ...(operations.delete
      ? [declared('Delete', `Deletes a ${model.name} with everything in it. It cannot be undone.`, [id])]
      : []),
  ];
}

function batches(operations: Operations): Declared[] {
  const { model } = operations;
  const many = `At most ${LIMITS.graphBatchMax}.`;
  const ids = entry(`The ids of the ${model.name} records. ${many}`, 'ids: [ID!]!');
  const inputs = entry(`The new records. ${many}`, `inputs: [${model.name}CreateInput!]!`);
  const input = entry('What to change in each of them.', `input: ${model.name}UpdateInput!`);
  const doc = (text: string): string => `${text} Each has its own result.`;
  return [
    ...(operations.create
      ? [{ name: 'Create', doc: doc(`Creates several ${model.name} records.`), args: [inputs] }]
      : []),
    ...(operations.update
      ? [{ name: 'Update', doc: doc(`Makes the same change in several ${model.name} records.`), args: [ids, input] }]
      : []),
    ...verbsOf(operations)
      .filter((name) => name !== 'Create' && name !== 'Update')
      .map((name) => ({ name, doc: doc(`${name}s several ${model.name} records.`), args: [ids] })),
  ];
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
