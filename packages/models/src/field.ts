import { isHttpUrl, isStorableText, isUuid, UUID_PATTERN, type JsonSchema } from '@wts/contracts';
import { readRepeatRule, REPEAT_RULE_LENGTH_MAX } from './repeat-rule.ts';
import { isDay } from './words/days.ts';

/**
 * The kinds of fields: how a client's value is read and normalized, its column, its JSON Schema. `read` returns the value as it is
 * stored and sent, or the reason of its refusal.
 */
export interface Field<Value = unknown> {
  readonly sqlType: 'text' | 'uuid' | 'uuid[]' | 'integer' | 'boolean' | 'date' | 'timestamptz';
  readonly schema: JsonSchema;
  readonly doc: string;
  readonly nullable: boolean;
  /** Default value in a new record; undefined for a required field. */
  readonly initial: Value | undefined;
  /** Set when a record is created; later changes are refused. */
  readonly immutable: boolean;
  /** Set when not the client assigns the value. Values of clients are ignored, because clients send whole records. */
  readonly assigned?: 'actor' | 'counter' | 'server';
  readonly reference?: Reference;
  /**
   * The permission for changing it in an existing record, besides that of the model. `project`: managers of the workspace, and the
   * creator and the lead of the project. `owner`: owners of the workspace.
   */
  readonly changedBy?: 'project' | 'owner';
  /** Records are found by it, although it refers to no record. */
  readonly isIndexed?: true;
  read(value: unknown): Reading<Value>;
}

/** The type of a field's value in a record. */
export type ValueOf<F extends Field> = F extends Field<infer Value> ? Value : never;

export type Reading<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly reason: string };

export interface Reference {
  readonly model: string;
  readonly many: boolean;
  /**
   * When the referenced record is deleted: this record is deleted too, the reference is removed, or it stays as history (people are
   * never deleted).
   */
  readonly onDelete: 'delete' | 'clear' | 'keep';
  /** The name, on the referenced record, of the records that refer to it. Default: the plural of their model. */
  readonly inverse?: string;
}

/** `Nullable` is inferred from `nullable`, for the type of the field's value. */
interface Options<Value, Nullable extends boolean> {
  readonly doc: string;
  readonly nullable?: Nullable;
  readonly initial?: Value;
  readonly immutable?: true;
  readonly assigned?: 'actor' | 'counter' | 'server';
  readonly changedBy?: 'project' | 'owner';
  readonly isIndexed?: true;
}

type OrNull<Value, Nullable extends boolean> = Nullable extends true ? Value | null : Value;

const accept = <Value>(value: Value): Reading<Value> => ({ ok: true, value });
const refuse = (reason: string): Reading<never> => ({ ok: false, reason });

type Kind = Pick<Field, 'sqlType' | 'schema' | 'reference'>;

function field<Value, Nullable extends boolean>(
  { schema, ...kind }: Kind,
  { doc, initial, ...more }: Options<Value, Nullable>,
  read: (value: unknown) => Reading<Value>,
): Field<OrNull<Value, Nullable>> {
  const nullable: boolean = more.nullable ?? false;
  const declared: Field<Value | null> = {
    ...kind,
    ...more,
    schema: { ...(nullable ? { anyOf: [schema, { type: 'null' }] } : schema), description: doc },
    doc,
    nullable,
    initial: initial === undefined && nullable ? null : initial,
    immutable: more.immutable ?? false,
    read: (value) => {
      if (value === null || value === undefined) return nullable ? accept(null) : refuse('must not be null');
      return read(value);
    },
  };
  return declared as Field<OrNull<Value, Nullable>>;
}

/** A kind of field that is declared by its options alone. */
const kindOf =
  <Value>(kind: Kind, read: (value: unknown) => Reading<Value>) =>
  <Nullable extends boolean = false>(options: Options<Value, Nullable>): Field<OrNull<Value, Nullable>> =>
    field(kind, options, read);

/** A pattern always has its words, because a regular expression does not say to people what to change. */
type TextBounds = { readonly min?: number; readonly max: number } & (
  | { readonly pattern?: never; readonly words?: never }
  | { readonly pattern: RegExp; readonly words: string }
);

/**
 * Text without NUL or lone surrogates, which PostgreSQL cannot store. Length counts Unicode code points. The words of a pattern name its
 * length too. Keeps sync.mutate.pattern-words.
 */
export function text<Nullable extends boolean = false>(
  bounds: TextBounds,
  options: Options<string, Nullable>,
): Field<OrNull<string, Nullable>> {
  const min = bounds.min ?? 0;
  const schema = {
    type: 'string',
    minLength: min,
    maxLength: bounds.max,
    ...(bounds.pattern ? { pattern: bounds.pattern.source } : {}),
  };
  return field({ sqlType: 'text', schema }, options, (value) => {
    if (typeof value !== 'string') return refuse('must be a string');
    if (!isStorableText(value)) return refuse('must be valid Unicode text without NUL');
    const length = lengthInCodePoints(value, bounds.max);
    const fits = length >= min && length <= bounds.max;
    if (bounds.pattern) return fits && bounds.pattern.test(value) ? accept(value) : refuse(bounds.words);
    if (!fits) return refuse(`must have ${min} to ${bounds.max} characters`);
    return min > 0 && value.trim() === '' ? refuse('must not be blank') : accept(value);
  });
}

/** Counting is skipped where the UTF-16 length already decides. */
function lengthInCodePoints(value: string, max: number): number {
  if (value.length <= 1) return value.length;
  if (value.length > max * 2) return value.length;
  let length = 0;
  for (const _ of value) length += 1;
  return length;
}

/** An absolute http or https URL without credentials. */
export const httpUrl = kindOf<string>(
  { sqlType: 'text', schema: { type: 'string', format: 'uri', maxLength: 2048 } },
  (value) =>
    typeof value === 'string' && value.length <= 2048 && isHttpUrl(value)
      ? accept(value)
      : refuse('must be an absolute http or https URL'),
);

/** A repeat rule, see `repeat-rule.ts`. */
export const repeatRule = kindOf<string>(
  { sqlType: 'text', schema: { type: 'string', minLength: 1, maxLength: REPEAT_RULE_LENGTH_MAX } },
  (value) => {
    if (typeof value !== 'string') return refuse('must be a string');
    const reading = readRepeatRule(value);
    return reading.ok ? accept(reading.rule) : refuse(reading.reason);
  },
);

/** The name of a time zone, such as `Europe/Berlin`. It is stored as given, with the letters of the time zone database. */
export const timeZone = kindOf<string>(
  { sqlType: 'text', schema: { type: 'string', minLength: 1, maxLength: 64 } },
  (value) => {
    const name = typeof value === 'string' && value.length <= 64 ? timeZoneNamed(value) : null;
    return name === null ? refuse('must be a time zone such as Europe/Berlin') : accept(name);
  },
);

/** Null for what is no name of a zone; an offset such as +02:00 is none, because its days have no summer time. */
function timeZoneNamed(value: string): string | null {
  if (!/^[A-Za-z]/.test(value)) return null;
  try {
    return new Temporal.ZonedDateTime(0n, value).timeZoneId;
  } catch {
    return null;
  }
}

const ID_SCHEMA = { type: 'string', pattern: UUID_PATTERN };

/** An id that is no reference, because it outlives its record. */
export const id = kindOf<string>({ sqlType: 'uuid', schema: ID_SCHEMA }, (value) =>
  isUuid(value) ? accept(value.toLowerCase()) : refuse('must be an id'),
);

export function integer<Nullable extends boolean = false>(
  bounds: { min: number; max: number },
  options: Options<number, Nullable>,
): Field<OrNull<number, Nullable>> {
  return field(
    { sqlType: 'integer', schema: { type: 'integer', minimum: bounds.min, maximum: bounds.max } },
    options,
    (value) =>
      Number.isInteger(value) && (value as number) >= bounds.min && (value as number) <= bounds.max
        ? accept(value as number)
        : refuse(`must be a whole number from ${bounds.min} to ${bounds.max}`),
  );
}

export const flag = kindOf<boolean>({ sqlType: 'boolean', schema: { type: 'boolean' } }, (value) =>
  typeof value === 'boolean' ? accept(value) : refuse('must be true or false'),
);

export function choice<const Value extends string, Nullable extends boolean = false>(
  values: readonly Value[],
  options: Options<NoInfer<Value>, Nullable>,
): Field<OrNull<Value, Nullable>> {
  const known: ReadonlySet<string> = new Set(values);
  return field({ sqlType: 'text', schema: { type: 'string', enum: values } }, options, (value) =>
    typeof value === 'string' && known.has(value)
      ? accept(value as Value)
      : refuse(`must be one of ${values.join(', ')}`),
  );
}

/** A fractional rank, sorted as text, so that moving an item changes only that item. Numbers of older clients are stored as text. */
export const rank = kindOf<string>({ sqlType: 'text', schema: { type: 'string', maxLength: 256 } }, (value) => {
  const rankText = typeof value === 'number' && Number.isFinite(value) ? String(value) : value;
  return typeof rankText === 'string' && rankText.length <= 256 && /^[\x20-\x7e]*$/.test(rankText)
    ? accept(rankText)
    : refuse('must be at most 256 printable ASCII characters');
});

const DAY_MS = 86_400_000;
const EARLIEST_MS = Date.parse('0001-01-01T00:00:00.000Z');
const LATEST_MS = Date.parse('9999-12-31T23:59:59.999Z');
const dateText = /^\d{4}-\d{2}-\d{2}$/;
const timestampText = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** Numbers below are refused: they are seconds by mistake, because no second up to the year 9999 has a larger number. */
const EPOCH_MS_MIN = Date.UTC(2000, 0, 1);

/** A day: `YYYY-MM-DD` on the wire. Epoch milliseconds and timestamps are read as the UTC day they fall on. */
export const date = kindOf<string>(
  { sqlType: 'date', schema: { type: 'string', format: 'date', maxLength: 10 } },
  (value) =>
    readTime(value, 'a day such as 2026-11-21', (ms) =>
      new Date(Math.floor(ms / DAY_MS) * DAY_MS).toISOString().slice(0, 10),
    ),
);

const TIMESTAMP: Kind = { sqlType: 'timestamptz', schema: { type: 'string', format: 'date-time', maxLength: 35 } };

/** A time: ISO 8601 UTC with milliseconds on the wire. Any offset, a day without time and epoch milliseconds are read too. Keeps sync.mutate.dates. */
export const timestamp = kindOf<string>(TIMESTAMP, readTimestamp);

function readTimestamp(value: unknown): Reading<string> {
  return readTime(value, 'a timestamp such as 2026-11-21T09:00:00.000Z', (ms) => new Date(ms).toISOString());
}

/** Keeps sync.mutate.epoch-seconds. */
function readTime(value: unknown, expected: string, toText: (ms: number) => string): Reading<string> {
  if (typeof value === 'number' && value < EPOCH_MS_MIN)
    return refuse(`must be ${expected}, or epoch milliseconds from the year 2000 on (multiply seconds by 1000)`);
  const ms = typeof value === 'string' && dateText.test(value) ? dayMs(value) : instantMs(value);
  return ms === null ? refuse(`must be ${expected}`) : accept(toText(ms));
}

/** A past time: at most a day in the future, because the clocks of clients differ. Keeps sync.mutate.completed. */
export const pastTimestamp = kindOf<string>(TIMESTAMP, (value) => {
  const reading = readTimestamp(value);
  if (!reading.ok) return reading;
  return Date.parse(reading.value) <= Date.now() + DAY_MS ? reading : refuse('must not be more than a day ahead');
});

function dayMs(day: string): number | null {
  const ms = Date.parse(`${day}T00:00:00.000Z`);
  return ms >= EARLIEST_MS && isDay(day) ? ms : null;
}

function instantMs(value: unknown): number | null {
  if (typeof value === 'string') {
    if (!timestampText.test(value) || dayMs(value.slice(0, 10)) === null) return null;
  } else if (typeof value !== 'number' || !Number.isInteger(value)) {
    return null;
  }
  const ms = typeof value === 'string' ? Date.parse(value) : value;
  return ms >= EARLIEST_MS && ms <= LATEST_MS ? ms : null;
}

type ReferenceOptions<Value, Nullable extends boolean> = Options<Value, Nullable> & Pick<Reference, 'inverse'>;

export function reference<Nullable extends boolean = false>(
  model: string,
  onDelete: Reference['onDelete'],
  { inverse, ...options }: ReferenceOptions<string, Nullable>,
): Field<OrNull<string, Nullable>> {
  const to = { model, many: false, onDelete, ...(inverse && { inverse }) };
  return field<string, Nullable>({ sqlType: 'uuid', schema: ID_SCHEMA, reference: to }, options, (value) =>
    isUuid(value) ? accept(value.toLowerCase()) : refuse(`must be the id of a ${model}`),
  );
}

/** A set of references, stored without repeats in the given order. */
export function references<Nullable extends boolean = false>(
  model: string,
  onDelete: Reference['onDelete'],
  max: number,
  { inverse, ...options }: ReferenceOptions<readonly string[], Nullable>,
): Field<OrNull<readonly string[], Nullable>> {
  const schema = { type: 'array', items: ID_SCHEMA, maxItems: max };
  const to = { model, many: true, onDelete, ...(inverse && { inverse }) };
  return field<readonly string[], Nullable>({ sqlType: 'uuid[]', schema, reference: to }, options, (value) => {
    if (!Array.isArray(value) || !value.every(isUuid)) return refuse(`must be a list of ids of ${model} records`);
    const ids = [...new Set(value.map((id) => id.toLowerCase()))];
    return ids.length <= max ? accept(ids) : refuse(`must have at most ${max} items`);
  });
}
