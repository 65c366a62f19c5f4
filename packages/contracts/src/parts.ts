import type { JsonSchema } from './contract.ts';
import { UUID_PATTERN } from './ids.ts';

/** What the schemas of several surfaces are made of. */
export const uuid = { type: 'string', pattern: UUID_PATTERN } as const;
export const timestamp = { type: 'string', format: 'date-time' } as const;

/** The body of an answer: `ok`, these, and nothing else. */
export function okBody(properties: Readonly<Record<string, JsonSchema>> = {}): JsonSchema {
  return {
    type: 'object',
    additionalProperties: false,
    required: ['ok', ...Object.keys(properties)],
    properties: { ok: { const: true }, ...properties },
  };
}
