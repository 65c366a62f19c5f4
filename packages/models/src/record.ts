import type { Field, Reading } from './field.ts';
import type { Model, RecordOf } from './model.ts';
import { quoteName } from './quote-name.ts';
import { setChangesOf, type SetChange } from './set-changes.ts';

/** Fields of every record that the server assigns. Values of clients are ignored, because clients send whole records. */
const KEPT_BY_SERVER: ReadonlySet<string> = new Set(['id', 'createdAt', 'updatedAt', 'archivedAt']);

/** Faults named in one reply, and the length of their text. */
const FAULTS_MAX = 5;
const TEXT_CHARS_MAX = 1000;

/** Values of fields, read and normalized. */
export type Values = Record<string, unknown>;

interface ReadPlan {
  readonly fields: ReadonlyMap<string, Field>;
  /** Required fields of a new record. */
  readonly required: readonly string[];
  readonly setChanges: readonly SetChange[];
  /** Keys of an update that are no fields: those of `setChanges`, and the commands of the model. */
  readonly otherNames: ReadonlySet<string>;
}

const plans = new WeakMap<Model, ReadPlan>();

function planOf(declared: Model): ReadPlan {
  return plans.getOrInsertComputed(declared, makePlan);
}

function makePlan(declared: Model): ReadPlan {
  const fields = new Map(Object.entries(declared.fields));
  const required = [...fields]
    .filter(([, field]) => field.initial === undefined && !field.assigned)
    .map(([name]) => name);
  const setChanges = setChangesOf(declared);
  const setChangeNames = setChanges.flatMap(({ added, removed }) => [added, removed]);
  return { fields, required, setChanges, otherNames: new Set([...setChangeNames, ...Object.keys(declared.commands)]) };
}

/** Normalized values of a new record; missing ones get their initial value. */
export function readInsert(declared: Model, payload: Values): Reading<Values> {
  const plan = planOf(declared);
  const { fields, required } = plan;
  const values: Values = {};
  const faults = new Faults(declared);
  readInto({ values, faults }, payload, plan, null);
  for (const name of required) if (!(name in values) && payload[name] === undefined) faults.add(`${name} is required`);
  if (faults.count > 0) return { ok: false, reason: faults.text() };
  for (const [name, { assigned, initial }] of fields)
    if (!(name in values) && (assigned === undefined || (initial ?? null) !== null)) values[name] = initial;
  return { ok: true, value: values };
}

/**
 * Normalized values of an update. A value that equals the stored one is accepted without checks, because it may be of older rules.
 * `added...` and `removed...` change the stored set, or the one that the update also gives.
 * Keeps sync.mutate.unchanged-values and sync.mutate.set-changes.
 */
export function readUpdate(declared: Model, payload: Values, stored: Values = {}): Reading<Values> {
  const plan = planOf(declared);
  const values: Values = {};
  const faults = new Faults(declared);
  readInto({ values, faults }, payload, plan, stored);
  for (const change of plan.setChanges) changeSet({ values, faults }, payload, { ...change, plan, stored });
  return faults.count > 0 ? { ok: false, reason: faults.text() } : { ok: true, value: values };
}

/**
 * An immutable field in an update is accepted here, because clients may send whole records; `differences` compares it with the
 * stored record.
 */
function readInto(
  { values, faults }: Read,
  payload: Values,
  { fields, otherNames }: ReadPlan,
  stored: Values | null,
): void {
  for (const name of Object.keys(payload)) {
    if (faults.isFull) return;
    if (KEPT_BY_SERVER.has(name)) continue;
    const field = fields.get(name);
    if (!field) {
      if (!stored || !otherNames.has(name)) faults.addUnknown(name);
      continue;
    }
    if (field.assigned) continue;
    const given = payload[name];
    if (given === undefined || (given === null && !stored && field.initial !== undefined && !field.nullable)) continue;
    if (stored && Object.hasOwn(stored, name) && given === stored[name]) {
      values[name] = given;
      continue;
    }
    const reading = field.read(given);
    if (reading.ok) values[name] = reading.value;
    else faults.add(`${name} ${reading.reason}`);
  }
}

/** What was read of a payload so far. */
interface Read {
  readonly values: Values;
  readonly faults: Faults;
}

/** Removes first, then adds: an id in both lists is in the set afterwards. */
function changeSet(
  { values, faults }: Read,
  payload: Values,
  {
    plan,
    field: name,
    added,
    removed,
    stored,
  }: SetChange & { readonly plan: ReadPlan; readonly stored: Readonly<Values> },
): void {
  const field = plan.fields.get(name);
  if (!field || (payload[added] ?? payload[removed] ?? null) === null) return;
  const idsOf = (given: string): readonly string[] => {
    const reading = field.read(payload[given] ?? []);
    if (!reading.ok) faults.add(`${given} ${reading.reason}`);
    return reading.ok ? (reading.value as readonly string[]) : [];
  };
  const toAdd = idsOf(added);
  const toRemove = new Set(idsOf(removed));
  const before = idsIn(name in values ? values : stored, name);
  const kept = before.filter((id) => !toRemove.has(id));
  const reading = field.read([...kept, ...toAdd]);
  if (reading.ok) values[name] = reading.value;
  else faults.add(`${name} ${reading.reason}`);
}

/** The faults of a payload: at most `FAULTS_MAX`, because a payload may have any number of fields. */
class Faults {
  readonly #model: Model;
  readonly #reasons: string[] = [];
  readonly #unknown: string[] = [];

  constructor(declared: Model) {
    this.#model = declared;
  }

  get count(): number {
    return this.#reasons.length + this.#unknown.length;
  }

  get isFull(): boolean {
    return this.count >= FAULTS_MAX;
  }

  add(reason: string): void {
    if (!this.isFull) this.#reasons.push(reason);
  }

  addUnknown(name: string): void {
    if (!this.isFull) this.#unknown.push(name);
  }

  /** The unknown names are last, with the names a client may send. */
  text(): string {
    const { name, fields } = this.#model;
    if (this.#unknown.length === 0) return this.#reasons.join('; ').slice(0, TEXT_CHARS_MAX);
    const known = Object.keys(fields).filter((field) => fields[field]?.assigned === undefined);
    const quoted = this.#unknown.map(quoteName).filter((text) => text !== null);
    const given = quoted.length === 0 ? 'such field' : `field ${quoted.join(' or ')}`;
    const unknown = `${name} has no ${given}; it has ${known.toSorted().join(', ')}`;
    return [...this.#reasons, unknown].join('; ').slice(0, TEXT_CHARS_MAX);
  }
}

/** The values that differ from the record, in the order of declaration. */
export function differences(declared: Model, record: RecordOf<Model>, values: Readonly<Values>): string[] {
  return [...planOf(declared).fields.keys()].filter((name) => name in values && !same(record[name], values[name]));
}

function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, index) => item === b[index]);
}

/** A record with its fields in order: id, the declared fields, the server's. */
export function buildRecord<M extends Model>(
  declared: M,
  id: string,
  values: Readonly<Values>,
  times: { readonly createdAt: string; readonly updatedAt: string; readonly archivedAt?: string | null },
): RecordOf<M> {
  const record: Values = { id };
  for (const name of planOf(declared).fields.keys()) record[name] = values[name] ?? null;
  record['createdAt'] = times.createdAt;
  record['updatedAt'] = times.updatedAt;
  if (declared.archivable) record['archivedAt'] = times.archivedAt ?? null;
  return record as RecordOf<M>;
}

/** The id in a field that must have one. */
export function idIn(values: Readonly<Values>, field: string): string {
  const id = values[field];
  if (typeof id !== 'string') throw new Error(`${field} holds no id`);
  return id;
}

/** The ids of a reference: none, one or several. */
export function idsIn(values: Readonly<Values>, field: string): readonly string[] {
  return [values[field]].flat().filter((id) => typeof id === 'string');
}
