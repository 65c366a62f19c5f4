// oxlint-disable unicorn/no-thenable -- `then` is a word of Spectral and of JSON Schema; nobody awaits these
import type { RulesetDefinition } from '@stoplight/spectral-core';
import { createRulesetFunction } from '@stoplight/spectral-core';
import { schema } from '@stoplight/spectral-functions';

/**
 * What this interface asks of its description beyond what every OpenAPI document should be, as a Spectral ruleset. Each
 * rule has a document that breaks it in `rules.test.ts`. Keeps meta.openapi.lint.
 */
const OPERATION = '$.paths[*][*]';

/** A rule in JSON Schema. `message` says what is asked. */
function asks(message: string, given: string, wanted: object) {
  return {
    message: `${message} ({{error}})`,
    severity: 'error',
    given,
    then: { function: schema, functionOptions: { schema: wanted } },
  } as const;
}

const headers = (...names: string[]): object => ({
  required: ['headers'],
  properties: { headers: { type: 'object', required: names } },
});

const example = { anyOf: [{ required: ['example'] }, { required: ['examples'] }] };

export const RULES = {
  rules: {
    'operation-id': asks('operations have a name in lowerCamel', OPERATION, {
      required: ['operationId'],
      properties: { operationId: { pattern: '^[a-z]+([A-Z][a-z]+)*$' } },
    }),
    'operation-described': asks('an operation says what it does: in one line, and in sentences', OPERATION, {
      required: ['summary', 'description'],
      properties: {
        summary: { type: 'string', minLength: 10, maxLength: 70, pattern: '^[A-Z].*[^.]$' },
        description: { type: 'string', pattern: '^[A-Z`].{20}' },
      },
    }),
    'operation-security': asks('an operation says itself which credential it needs, or that it needs none', OPERATION, {
      required: ['security'],
      properties: { security: { type: 'array' } },
    }),
    'operation-scope': asks('a credential comes with a scope and with 401 and 403, and never without', OPERATION, {
      allOf: [
        {
          if: { required: ['security'], properties: { security: { maxItems: 0 } } },
          then: {
            not: { anyOf: [{ required: ['x-required-scope'] }, { properties: { responses: { required: ['401'] } } }] },
          },
        },
        {
          if: { required: ['security'], properties: { security: { minItems: 1 } } },
          then: {
            required: ['x-required-scope'],
            properties: {
              'x-required-scope': { enum: ['read', 'write', 'admin'] },
              responses: { required: ['401', '403'] },
            },
          },
        },
      ],
    }),
    'operation-version': asks('every operation takes Api-Version', OPERATION, {
      required: ['parameters'],
      properties: {
        parameters: { contains: { properties: { name: { const: 'Api-Version' }, in: { const: 'header' } } } },
      },
    }),
    'operation-succeeds': asks('an operation has one answer that is no error, in its own words', OPERATION, {
      required: ['responses'],
      properties: {
        responses: {
          patternProperties: { '^[123]': { properties: { description: { type: 'string', minLength: 6 } } } },
          oneOf: ['101', '200', '201', '202', '204'].map((status) => ({ required: [status] })),
        },
      },
    }),
    'operation-fails': asks('an operation says how it fails, and with a body in which ways more', OPERATION, {
      properties: { responses: { required: ['400', '404', '429', '431', '500', '503'] } },
      if: { required: ['requestBody'] },
      then: { properties: { responses: { required: ['413', '415'] } } },
    }),
    'response-headers': asks('every answer names its version and its request', `${OPERATION}.responses[*]`, {
      ...headers('Api-Version', 'X-Request-Id'),
    }),
    'retry-after': asks(
      'what may succeed later says when',
      `${OPERATION}.responses[?(@property.match(/^(429|503)$/))]`,
      {
        ...headers('Retry-After'),
      },
    ),
    challenge: asks('401 says how to authenticate', `${OPERATION}.responses.401`, headers('WWW-Authenticate')),
    'error-shape': {
      ...asks('all errors have the one body, with an example', '$.components.responses[*]', {
        properties: {
          content: {
            type: 'object',
            additionalProperties: false,
            required: ['application/json'],
            properties: {
              'application/json': {
                required: ['examples'],
                properties: {
                  schema: { const: { $ref: '#/components/schemas/Error' } },
                  examples: { type: 'object', minProperties: 1 },
                },
              },
            },
          },
        },
        required: ['content'],
      }),
      resolved: false,
    },
    'error-shared': {
      ...asks('errors are said once, and referred to', `${OPERATION}.responses[?(@property.match(/^[45]/))]`, {
        required: ['$ref'],
      }),
      resolved: false,
    },
    'error-status': {
      message: '{{error}}',
      severity: 'error',
      given: `${OPERATION}.responses[?(@property.match(/^[45]/))].content[*].examples[*].value`,
      then: {
        function: createRulesetFunction<{ statusCode: number }, null>(
          { input: null, options: null },
          (value, _, { path }) => {
            const status = path[path.indexOf('responses') + 1];
            return String(value.statusCode) === status ? [] : [{ message: `${value.statusCode} is no ${status}` }];
          },
        ),
      },
    },
    'answer-example': asks('what is answered is shown', `${OPERATION}.responses[*].content[*]`, example),
    'body-example': asks('what may be sent is shown', `${OPERATION}.requestBody.content[*]`, example),
    'bodies-are-json': asks('request bodies are JSON', `${OPERATION}.requestBody.content`, {
      type: 'object',
      required: ['application/json'],
      maxProperties: 1,
    }),
    'path-ids': asks(
      'what is named Id in a path is a UUID',
      `${OPERATION}.parameters[?(@.in == 'path' && @.name.match(/Id$/))].schema`,
      { required: ['format', 'pattern'], properties: { format: { const: 'uuid' } } },
    ),
    'field-described': {
      message: '{{error}}',
      severity: 'error',
      given: ['$.paths', '$.components.schemas'],
      resolved: false,
      then: { function: eachSchema(undescribedFields) },
    },
    'input-bounded': {
      message: '{{error}}',
      severity: 'error',
      given: [`${OPERATION}.requestBody.content[*].schema`, `${OPERATION}.parameters[*]`],
      then: { function: eachSchema(unbounded) },
    },
    'no-accidental-list': asks('a line that begins with "403." is a list to whoever draws it', '$..description', {
      not: { type: 'string', pattern: '(^|\\n)\\s*\\d+[.)]\\s' },
    }),
    'nothing-internal': asks('what services say to each other stays among them', '$.paths', {
      propertyNames: { not: { pattern: '^/(internal|metrics|docs)' } },
    }),
  },
} satisfies RulesetDefinition;

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly [keyword: string]: unknown;
}

type Path = readonly (string | number)[];
type Judge = (schema: Schema) => readonly { readonly message: string; readonly at?: Path }[];

/** Applies a judgment to every schema below a place. Examples are data that may look like schemas, and are passed over. */
function eachSchema(judge: Judge) {
  return createRulesetFunction<unknown, null>({ input: null, options: null }, (input, _, context) => {
    const found: { message: string; path: (string | number)[] }[] = [];
    const seen = new Set<unknown>();
    const walk = (value: unknown, path: Path): void => {
      if (typeof value !== 'object' || value === null || seen.has(value)) return;
      seen.add(value);
      if (!Array.isArray(value)) {
        for (const { message, at = [] } of judge(value as Schema)) found.push({ message, path: [...path, ...at] });
      }
      for (const [key, inner] of Object.entries(value)) {
        if (!['example', 'examples', 'enum', 'const', 'default'].includes(key)) walk(inner, [...path, key]);
      }
    };
    walk(input, [...context.path]);
    return found;
  });
}

/** `ok` says the same everywhere; a reference says it there. */
function undescribedFields({ type, properties = {} }: Schema): ReturnType<Judge> {
  if (type !== 'object') return [];
  return Object.entries(properties)
    .filter(([name, field]) => name !== 'ok' && !('description' in field) && !('$ref' in field))
    .map(([name]) => ({ message: `the field ${name} says nothing of itself`, at: ['properties', name] }));
}

/** What somebody sends has an end: text a length, a list a count. */
function unbounded({ type, pattern, ...rest }: Schema): ReturnType<Judge> {
  const types = [type].flat();
  const isWhole = typeof pattern === 'string' && /^\^.*\$$/.test(pattern) && !/(?<!\\)[*+](?!\?)/.test(pattern);
  if (types.includes('string') && !isWhole && !('maxLength' in rest || 'enum' in rest || 'const' in rest)) {
    return [{ message: 'text without an end' }];
  }
  return types.includes('array') && !('maxItems' in rest) ? [{ message: 'a list without an end' }] : [];
}
