import { UUID_PATTERN } from './ids.ts';
import { LIMITS } from './limits.ts';
import type { JsonSchema, TypeOf } from './type-of.ts';

/** Schemas that several operations use. */
export const uuid = { type: 'string', pattern: UUID_PATTERN } as const;
export const timestamp = { type: 'string', format: 'date-time' } as const;
export const timestampOrNull = { ...timestamp, type: ['string', 'null'] } as const;
export const text = { type: 'string' } as const;
export const textOrNull = { type: ['string', 'null'] } as const;
export const count = { type: 'integer', minimum: 0 } as const;
export const workspaceId = {
  ...uuid,
  description: 'The id of the workspace. 404 when you are not a member of it.',
} as const;

/** Of an operation on one workspace. */
export const workspaceParams = objectOf({ workspaceId });

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

/** The reply of an operation that gives nothing back. */
export function done(description: string) {
  return { status: 200, description, schema: okBody({}), example: { ok: true } } as const;
}

/** A page of a list: the items after an id. */
export type PageQuery = TypeOf<ReturnType<typeof pageQuery>>;

type Schemas = Readonly<Record<string, JsonSchema>>;

/** An object with these properties and no others. Those that are `optional` may be left out. */
export function objectOf<const Required extends Schemas, const Optional extends Schemas = never>(
  required: Required,
  optional?: Optional,
): ObjectSchema<Required, Optional> {
  const schema: JsonSchema = {
    type: 'object',
    additionalProperties: false,
    required: Object.keys(required),
    properties: { ...required, ...optional },
  };
  return schema as ObjectSchema<Required, Optional>;
}

type ObjectSchema<Required, Optional> = {
  readonly type: 'object';
  readonly additionalProperties: false;
  readonly required: readonly (keyof Required)[];
  readonly properties: [Optional] extends [never] ? Required : Required & Optional;
};

/** The body of a reply: `ok` and these properties, nothing else. Those that are `optional` may be left out. */
export function okBody<const Properties extends Schemas, const Optional extends Schemas = never>(
  properties: Properties,
  optional?: Optional,
) {
  return objectOf({ ok: { const: true }, ...properties }, optional);
}
