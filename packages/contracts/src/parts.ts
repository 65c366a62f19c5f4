import { UUID_PATTERN } from './ids.ts';
import type { JsonSchema } from './type-of.ts';

/** Schemas that several operations use. */
export const uuid = { type: 'string', pattern: UUID_PATTERN } as const;
export const timestamp = { type: 'string', format: 'date-time' } as const;

type Schemas = Readonly<Record<string, JsonSchema>>;

/** The body of a reply: `ok` and these properties, nothing else. Those that are `optional` may be left out. */
export function okBody<const Properties extends Schemas>(properties: Properties): OkBody<Properties, Properties>;
export function okBody<const Properties extends Schemas, const Optional extends Schemas>(
  properties: Properties,
  optional: Optional,
): OkBody<Properties, Properties & Optional>;
export function okBody(properties: Schemas, optional?: Schemas): OkBody<Schemas, Schemas> {
  const schema: JsonSchema = {
    type: 'object',
    additionalProperties: false,
    required: ['ok', ...Object.keys(properties)],
    properties: { ok: { const: true }, ...properties, ...optional },
  };
  return schema as OkBody<Schemas, Schemas>;
}

type OkBody<Required, All> = JsonSchema & {
  readonly type: 'object';
  readonly required: readonly ('ok' | keyof Required)[];
  readonly properties: { readonly ok: { readonly const: true } } & All;
};
