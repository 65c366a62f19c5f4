import type { JsonSchema } from '@wts/contracts';
import { Fault, isHttpUrl, wordsOf } from '@wts/contracts';
import type { ErrorObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { FormatsPlugin } from 'ajv-formats';
import formats from 'ajv-formats';

/** Throws `validation_failed` with a message that starts with where the fault is: `body/urlKey must have ...`. */
export type Validate = (value: unknown) => void;

const MESSAGE_CHARS_MAX = 300;

const ajv = new Ajv2020({
  strict: true,
  allowUnionTypes: true,
  // Nothing is coerced, defaulted or removed: a handler sees what the caller sent, or nothing.
  coerceTypes: false,
  useDefaults: false,
  removeAdditional: false,
  // The first fault is enough, and looking for all of them is work an attacker can order.
  allErrors: false,
  // A schema that is none stops the start.
  validateSchema: true,
});
ajv.addVocabulary(['example']);
(formats as unknown as FormatsPlugin)(ajv, ['uuid', 'date-time', 'date', 'uri']);
ajv.addFormat('http-url', { type: 'string', validate: isHttpUrl });

/** RFC 6531 without its quoted names: letters of every script, before the sign and behind it. */
const ADDRESS =
  /^[^\s@"(),:;<>[\\\]\p{Cc}]+@(?:[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?\.)+[\p{L}\p{M}\p{N}-]{2,}$/u;
ajv.addFormat('idn-email', { type: 'string', validate: ADDRESS });

/**
 * Compiles a schema. `where` names the part of the request in messages: path, query or body.
 * Keeps errors.400.validation.
 */
export function compile(schema: JsonSchema, where: string): Validate {
  const check = ajv.compile(schema);
  return (value) => {
    if (check(value)) return;
    throw new Fault('validation_failed', { message: describe(check.errors?.[0], where) });
  };
}

function describe(error: ErrorObject | undefined, where: string): string {
  if (error === undefined) return `${where} is not valid`;
  const at = `${where}${error.instancePath}`;
  const params = error.params as Record<string, unknown>;
  return sentence(error, at, params).slice(0, MESSAGE_CHARS_MAX);
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
};

/** What is asked of a text, for whoever does not know the format by its name. */
const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  'idn-email': 'an e-mail address',
  'http-url': 'an absolute URL that starts with http:// or https://, without a user name or password',
  'date-time': 'a moment such as 2026-11-21T09:00:00.000Z',
  date: 'a day such as 2026-11-21',
};

function sentence(error: ErrorObject, at: string, params: Record<string, unknown>): string {
  switch (error.keyword) {
    case 'additionalProperties':
      return `${at} must not have the property ${JSON.stringify(String(params.additionalProperty).slice(0, 100))}`;
    case 'enum':
      return `${at} must be one of ${(params.allowedValues as unknown[]).join(', ')}`;
    case 'const':
      return `${at} must be ${JSON.stringify(params.allowedValue)}`;
    case 'format':
      return `${at} must be ${FORMATS[String(params.format)] ?? `a valid ${String(params.format)}`}`;
    case 'pattern':
      return `${at} ${wordsOf(String(params.pattern)) ?? error.message}`;
    case 'required':
      return `${at} must have the property "${String(params.missingProperty)}"`;
    case 'type':
      return `${at} must be ${[params.type]
        .flat()
        .map((type) => TYPES[String(type)] ?? String(type))
        .join(' or ')}`;
    case 'minLength':
      return Number(params.limit) === 1
        ? `${at} must not be empty`
        : `${at} must have at least ${String(params.limit)} characters`;
    case 'maxLength':
      return `${at} must have at most ${String(params.limit)} characters`;
    case 'minItems':
      return `${at} must have at least ${String(params.limit)} items`;
    case 'maxItems':
      return `${at} must have at most ${String(params.limit)} items`;
    case 'minimum':
      return `${at} must be at least ${String(params.limit)}`;
    case 'maximum':
      return `${at} must be at most ${String(params.limit)}`;
    default:
      return `${at} ${error.message ?? 'is not valid'}`;
  }
}
