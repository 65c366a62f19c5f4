import { Fault, isHttpUrl, wordsOf, type JsonSchema } from '@wts/contracts';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { FormatsPlugin } from 'ajv-formats';
import formats from 'ajv-formats';

/** Throws `validation_failed` with a message that starts with the place of the fault: `body/urlKey must have ...`. */
export type Validate = (value: unknown) => void;

const MESSAGE_CHARS_MAX = 1000;
/** Faults named in one reply. */
const FAULTS_MAX = 5;
/** Only in a value up to this size are more faults than the first searched, because a caller could otherwise cause much work. */
const SEARCHED_CHARS_MAX = 65_536;
const CHARS_PER_VALUE = 64;
/** Errors of the compiled schema that are read; several of them may be about one fault. */
const ERRORS_MAX = 200;

/** RFC 6531 without quoted names: letters of every script, before and after the `@`. */
const ADDRESS =
  /^[^\s@"(),:;<>[\\\]\p{Cc}]+@(?:[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?\.)+[\p{L}\p{M}\p{N}-]{2,}$/u;

function createAjv(allErrors: boolean): Ajv2020 {
  const ajv = new Ajv2020({
    strict: true,
    allowUnionTypes: true,
    // Nothing is coerced, defaulted or removed: a handler sees what the caller sent, or nothing.
    coerceTypes: false,
    useDefaults: false,
    removeAdditional: false,
    allErrors,
    verbose: allErrors,
    // A test validates the schemas of all contracts, because it takes each start 30 ms of a processor.
    validateSchema: false,
  });
  ajv.addVocabulary(['example']);
  (formats as unknown as FormatsPlugin)(ajv, ['uuid', 'date-time', 'date', 'uri']);
  ajv.addFormat('http-url', { type: 'string', validate: isHttpUrl });
  ajv.addFormat('idn-email', { type: 'string', validate: ADDRESS });
  return ajv;
}

const firstFault = createAjv(false);
const allFaults = createAjv(true);

/**
 * Checks values against a schema. `where` names the part of the request in messages: path, query or body. The schema is compiled when a
 * first value is checked, because those of all operations take each start 50 ms of a processor; a test compiles them.
 * Keeps errors.400.validation.
 */
export function compile(schema: JsonSchema, where: string): Validate {
  let check: ValidateFunction | undefined;
  return (value) => {
    check ??= firstFault.compile(schema);
    if (check(value)) return;
    throw new Fault('validation_failed', { message: describe(faultsOf(schema, value) ?? check.errors ?? [], where) });
  };
}

/** Every fault of a small value; the schema is compiled for it when a first request needs it. */
function faultsOf(schema: JsonSchema, value: unknown): ErrorObject[] | null {
  if (charsLeft(value, SEARCHED_CHARS_MAX) < 0) return null;
  const check = allFaults.compile(schema);
  check(value);
  return check.errors ?? null;
}

/** The rest of a budget of characters after this value; negative when the value is larger. */
function charsLeft(value: unknown, budget: number): number {
  let left = budget - CHARS_PER_VALUE - (typeof value === 'string' ? value.length : 0);
  if (typeof value !== 'object' || value === null) return left;
  for (const item of Object.values(value)) {
    if (left < 0) return left;
    left = charsLeft(item, left);
  }
  return left;
}

function describe(errors: readonly ErrorObject[], where: string): string {
  const faults = new Map<string, string>();
  for (const error of closestBranches(errors.slice(0, ERRORS_MAX))) {
    const text = `${where}${error.instancePath} ${sentence(error)}`;
    // A value has one fault at a time; the names in it have one each.
    const about = ['required', 'additionalProperties'].includes(error.keyword) ? text : error.instancePath;
    if (!faults.has(about)) faults.set(about, text);
    if (faults.size === FAULTS_MAX) break;
  }
  return ([...faults.values()].join('; ') || `${where} is not valid`).slice(0, MESSAGE_CHARS_MAX);
}

/** Where a value fits no branch of an `anyOf`, only the faults of the branch with the fewest count. */
function closestBranches(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  let kept = errors;
  for (const { keyword, schemaPath, instancePath } of errors) {
    if (keyword !== 'anyOf') continue;
    const branchOf = (error: ErrorObject): string | null =>
      error.schemaPath.startsWith(`${schemaPath}/`) && `${error.instancePath}/`.startsWith(`${instancePath}/`)
        ? (error.schemaPath.slice(schemaPath.length + 1).split('/')[0] ?? '')
        : null;
    const branches = Map.groupBy(kept, branchOf);
    branches.delete(null);
    if (branches.size === 0) continue;
    const [closest] = [...branches].toSorted(([, a], [, b]) => a.length - b.length)[0] ?? [];
    kept = kept.filter(
      (error) =>
        !(error.schemaPath === schemaPath && error.instancePath === instancePath) &&
        [null, closest].includes(branchOf(error)),
    );
  }
  return kept;
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
};

/** Each format in words. */
const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  'idn-email': 'an e-mail address',
  uri: 'an absolute URL in ASCII, such as https://example.com/hook; other characters are encoded',
  'http-url': 'an absolute URL that starts with http:// or https://, without a user name or password',
  'date-time': 'a time with a time zone, such as 2026-11-21T09:00:00.000Z',
  date: 'a day such as 2026-11-21',
};

type Sentence = (params: Readonly<Record<string, unknown>>, error: ErrorObject) => string;

/** What a value must be, by the keyword that it does not fit. */
const SENTENCES: Readonly<Record<string, Sentence>> = {
  additionalProperties: ({ additionalProperty }, error) =>
    `must not have the property ${JSON.stringify(String(additionalProperty).slice(0, 100))}${knownNames(error)}`,
  enum: ({ allowedValues }) => `must be one of ${(allowedValues as unknown[]).join(', ')}`,
  const: ({ allowedValue }) => `must be ${JSON.stringify(allowedValue)}`,
  format: ({ format }) => `must be ${FORMATS[String(format)] ?? `a valid ${String(format)}`}`,
  pattern: ({ pattern }, { message }) => wordsOf(String(pattern)) ?? String(message),
  required: ({ missingProperty }) => `must have the property "${String(missingProperty)}"`,
  type: ({ type }) => `must be ${[type].flat().map(typeText).join(' or ')}`,
  minLength: ({ limit }) =>
    Number(limit) === 1 ? 'must not be empty' : `must have at least ${String(limit)} characters`,
  maxLength: ({ limit }) => `must have at most ${String(limit)} characters`,
  minItems: ({ limit }) => `must contain at least ${items(limit)}`,
  maxItems: ({ limit }) => `must contain at most ${items(limit)}`,
  uniqueItems: () => 'must not contain an item twice',
  minimum: ({ limit }) => `must be at least ${String(limit)}`,
  maximum: ({ limit }) => `must be at most ${String(limit)}`,
};

function sentence(error: ErrorObject): string {
  return SENTENCES[error.keyword]?.(error.params as Record<string, unknown>, error) ?? error.message ?? 'is not valid';
}

function typeText(type: unknown): string {
  return TYPES[String(type)] ?? String(type);
}

function items(limit: unknown): string {
  return limit === 1 ? '1 item' : `${String(limit)} items`;
}

/** The properties that the object may have, where the schema is available. */
function knownNames({ parentSchema }: ErrorObject): string {
  const names = Object.keys((parentSchema?.['properties'] as object | undefined) ?? {});
  return names.length === 0 ? '' : `; it may have ${names.join(', ')}`;
}
