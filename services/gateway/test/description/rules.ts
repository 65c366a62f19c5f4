// oxlint-disable unicorn/no-thenable -- `then` is a keyword of Spectral and of JSON Schema; these objects are never awaited
import { createRulesetFunction, type RulesetDefinition } from '@stoplight/spectral-core';
import { schema } from '@stoplight/spectral-functions';

/**
 * The rules of this project for its description, in addition to those for every OpenAPI document, as a Spectral ruleset. Each
 * rule has a document that breaks it in `rules.test.ts`. Keeps meta.openapi.lint.
 */
const OPERATION = '$.paths[*][*]';

/** A rule in JSON Schema. `message` is the requirement. */
function requires(message: string, given: string, required: object) {
  return {
    message: `${message} ({{error}})`,
    severity: 'error',
    given,
    then: { function: schema, functionOptions: { schema: required } },
  } as const;
}

const headers = (...names: string[]): object => ({
  required: ['headers'],
  properties: { headers: { type: 'object', required: names } },
});

const example = { anyOf: [{ required: ['example'] }, { required: ['examples'] }] };

export const RULES = {
  rules: {
    'operation-id': requires('operationId is a name in lowerCamelCase', OPERATION, {
      required: ['operationId'],
      properties: { operationId: { pattern: '^[a-z]+([A-Z][a-z]+)*$' } },
    }),
    'operation-described': requires(
      'an operation has a summary of one line and a description in sentences',
      OPERATION,
      {
        required: ['summary', 'description'],
        properties: {
          summary: { type: 'string', minLength: 10, maxLength: 70, pattern: '^[A-Z].*[^.]$' },
          description: { type: 'string', pattern: '^[A-Z`].{20}' },
        },
      },
    ),
    'operation-security': requires('an operation names its own credential, or none', OPERATION, {
      required: ['security'],
      properties: { security: { type: 'array' } },
    }),
    'operation-scope': requires(
      'an operation with a credential has a scope, 401 and 403; one without has none of them',
      OPERATION,
      {
        allOf: [
          {
            if: { required: ['security'], properties: { security: { maxItems: 0 } } },
            then: {
              not: {
                anyOf: [{ required: ['x-required-scope'] }, { properties: { responses: { required: ['401'] } } }],
              },
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
      },
    ),
    'operation-version': requires('every operation has the parameter Api-Version', OPERATION, {
      required: ['parameters'],
      properties: {
        parameters: { contains: { properties: { name: { const: 'Api-Version' }, in: { const: 'header' } } } },
      },
    }),
    'operation-succeeds': requires('an operation has one successful answer, with a description', OPERATION, {
      required: ['responses'],
      properties: {
        responses: {
          patternProperties: { '^[123]': { properties: { description: { type: 'string', minLength: 6 } } } },
          oneOf: ['101', '200', '201', '202', '204'].map((status) => ({ required: [status] })),
        },
      },
    }),
    'operation-fails': requires(
      'an operation lists the common errors, and those of bodies when it has one',
      OPERATION,
      {
        properties: { responses: { required: ['400', '404', '429', '431', '500', '503'] } },
        if: { required: ['requestBody'] },
        then: { properties: { responses: { required: ['413', '415'] } } },
      },
    ),
    'response-headers': requires('every answer has Api-Version and X-Request-Id', `${OPERATION}.responses[*]`, {
      ...headers('Api-Version', 'X-Request-Id'),
    }),
    'retry-after': requires(
      '429 and 503 have Retry-After',
      `${OPERATION}.responses[?(@property.match(/^(429|503)$/))]`,
      {
        ...headers('Retry-After'),
      },
    ),
    challenge: requires('401 has WWW-Authenticate', `${OPERATION}.responses.401`, headers('WWW-Authenticate')),
    'error-shape': {
      ...requires('all errors have the same body, with an example', '$.components.responses[*]', {
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
      ...requires('errors are defined once and referred to', `${OPERATION}.responses[?(@property.match(/^[45]/))]`, {
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
            return String(value.statusCode) === status
              ? []
              : [{ message: `statusCode is ${value.statusCode} in an answer ${status}` }];
          },
        ),
      },
    },
    'answer-example': requires('answers have examples', `${OPERATION}.responses[*].content[*]`, example),
    'body-example': requires('request bodies have examples', `${OPERATION}.requestBody.content[*]`, example),
    'bodies-are-json': requires('request bodies are JSON', `${OPERATION}.requestBody.content`, {
      type: 'object',
      required: ['application/json'],
      maxProperties: 1,
    }),
    'path-ids': requires(
      'path parameters that end in Id are UUIDs',
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
    'no-accidental-list': requires('no line begins with "403.", which Markdown shows as a list', '$..description', {
      not: { type: 'string', pattern: '(^|\\n)\\s*\\d+[.)]\\s' },
    }),
    'nothing-internal': requires('internal operations are not described', '$.paths', {
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
type Check = (schema: Schema) => readonly { readonly message: string; readonly at?: Path }[];

/** Applies a check to every schema below a path. Skips examples, whose data may look like schemas. */
function eachSchema(check: Check) {
  return createRulesetFunction<unknown, null>({ input: null, options: null }, (input, _, context) => {
    const found: { message: string; path: (string | number)[] }[] = [];
    const seen = new Set<unknown>();
    const walk = (value: unknown, path: Path): void => {
      if (typeof value !== 'object' || value === null || seen.has(value)) return;
      seen.add(value);
      if (!Array.isArray(value)) {
        for (const { message, at = [] } of check(value as Schema)) found.push({ message, path: [...path, ...at] });
      }
      for (const [key, inner] of Object.entries(value)) {
        if (!['example', 'examples', 'enum', 'const', 'default'].includes(key)) walk(inner, [...path, key]);
      }
    };
    walk(input, [...context.path]);
    return found;
  });
}

/** `ok` has the same meaning everywhere; a reference is described where it is defined. */
function undescribedFields({ type, properties = {} }: Schema): ReturnType<Check> {
  if (type !== 'object') return [];
  return Object.entries(properties)
    .filter(([name, field]) => name !== 'ok' && !('description' in field) && !('$ref' in field))
    .map(([name]) => ({ message: `the field ${name} has no description`, at: ['properties', name] }));
}

/** Texts and lists in requests have a maximum length. */
function unbounded({ type, pattern, ...rest }: Schema): ReturnType<Check> {
  const types = [type].flat();
  const isWhole = typeof pattern === 'string' && /^\^.*\$$/.test(pattern) && !/(?<!\\)[*+](?!\?)/.test(pattern);
  if (types.includes('string') && !isWhole && !('maxLength' in rest || 'enum' in rest || 'const' in rest))
    return [{ message: 'text without a maximum length' }];
  return types.includes('array') && !('maxItems' in rest) ? [{ message: 'a list without a maximum length' }] : [];
}
