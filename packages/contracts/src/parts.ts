import { UUID_PATTERN } from './ids.ts';
import { LIMITS } from './limits.ts';
import type { JsonSchema, TypeOf } from './type-of.ts';

/** Schemas that several operations use. */
export const uuid = { type: 'string', pattern: UUID_PATTERN } as const;
export const timestamp = { type: 'string', format: 'date-time' } as const;
export const workspaceId = {
  ...uuid,
  description: 'The id of the workspace. 404 when you are not a member of it.',
} as const;

/** Of an operation on one workspace. */
export const workspaceParams = {
  type: 'object',
  additionalProperties: false,
  required: ['workspaceId'],
  properties: { workspaceId },
} as const;

export const pageLimit = {
  type: 'integer',
  minimum: 0,
  default: LIMITS.listPageDefault,
  description: `How many, clamped to 1..${LIMITS.listPageMax}.`,
} as const;
export const hasMore = { type: 'boolean', description: 'True when there is another page.' } as const;

/** `after` describes which id. */
export function pageQuery(after: string) {
  return { type: 'object', properties: { after: { ...uuid, description: after }, limit: pageLimit } } as const;
}

/** A page of a list: the items after an id. */
export type PageQuery = TypeOf<ReturnType<typeof pageQuery>>;

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
