import { UUID_PATTERN } from './ids.ts';
import type { JsonSchema } from './type-of.ts';

/** Schemas that several operations use. */
export const uuid = { type: 'string', pattern: UUID_PATTERN } as const;
export const timestamp = { type: 'string', format: 'date-time' } as const;

/** The body of a reply: `ok` and these properties, nothing else. */
export function okBody<const Properties extends Readonly<Record<string, JsonSchema>>>(
  properties: Properties,
): OkBody<Properties> {
  const schema: JsonSchema = {
    type: 'object',
    additionalProperties: false,
    required: ['ok', ...Object.keys(properties)],
    properties: { ok: { const: true }, ...properties },
  };
  return schema as OkBody<Properties>;
}

type OkBody<Properties> = JsonSchema & {
  readonly type: 'object';
  readonly required: readonly ('ok' | keyof Properties)[];
  readonly properties: { readonly ok: { readonly const: true } } & Properties;
};
