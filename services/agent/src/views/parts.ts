import { CALL_KEY_PATTERN, type JsonSchema } from '@wts/contracts';
import { AGENT_LIMITS } from '../limits.ts';

/** Parts of schemas that several tools use. An object has all its properties, unless only some are required. */

export function object<
  const Properties extends Readonly<Record<string, JsonSchema>>,
  const Required extends keyof Properties = keyof Properties,
>(
  properties: Properties,
  required: readonly Required[] = Object.keys(properties) as unknown as Required[],
): {
  readonly type: 'object';
  readonly additionalProperties: false;
  readonly required: readonly Required[];
  readonly properties: Properties;
} {
  return { type: 'object', additionalProperties: false, required, properties };
}

export function list<const Items extends JsonSchema>(items: Items): { readonly type: 'array'; readonly items: Items } {
  return { type: 'array', items };
}

export function word(description: string): {
  readonly type: 'string';
  readonly minLength: 1;
  readonly maxLength: number;
  readonly description: string;
} {
  return { type: 'string', minLength: 1, maxLength: AGENT_LIMITS.wordCharsMax, description };
}

/** A word, or null to remove the value. */
export function wordOrNull(description: string): {
  readonly type: readonly ['string', 'null'];
  readonly minLength: 1;
  readonly maxLength: number;
  readonly description: string;
} {
  return { type: ['string', 'null'], minLength: 1, maxLength: AGENT_LIMITS.wordCharsMax, description };
}

export const TASK_WORD = word('Key such as ACME-12, id, or number (then with `workspace`).');
export const IDEMPOTENCY_KEY = {
  type: 'string',
  minLength: 1,
  maxLength: AGENT_LIMITS.idempotencyKeyCharsMax,
  pattern: CALL_KEY_PATTERN,
  description:
    'A new value of your choice for this call, such as a UUID. The same call repeated with the same key changes nothing more and gets the first results; with other arguments it is a new change.',
} as const;

export const count = { type: 'integer', minimum: 0 } as const;
export const text = { type: 'string' } as const;
export const textOrNull = { type: ['string', 'null'] } as const;

export const WORKSPACE = word(
  'Name, urlKey or id of the workspace. May be left out when the person is in exactly one.',
);
/** Of tools that read all workspaces without it. */
export const WORKSPACE_FILTER = word('Name, urlKey or id of a workspace. Default: all workspaces of the person.');
export const TIMEZONE = word(
  'IANA time zone of the person, such as Europe/Berlin, for words like "today". Default: UTC.',
);

/** Arguments of a page. */
export const PAGE = {
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: AGENT_LIMITS.pageMax,
    description: `How many at most. Default: ${AGENT_LIMITS.pageDefault}.`,
  },
  cursor: {
    type: 'string',
    minLength: 1,
    maxLength: 2_000,
    description: '`nextCursor` of the page before, with otherwise the same arguments. Leave it out for the first page.',
  },
} as const;

/** Results of a page. */
export const NEXT = {
  nextCursor: { ...textOrNull, description: '`cursor` of the next page; null on the last one.' },
  hasMore: { type: 'boolean' },
} as const;

export interface PageInfo {
  readonly hasNextPage: boolean;
  readonly endCursor: string | null;
}

export const PAGE_INFO = 'pageInfo { hasNextPage endCursor }';

export function nextOf({ hasNextPage, endCursor }: PageInfo): { nextCursor: string | null; hasMore: boolean } {
  return { nextCursor: hasNextPage ? endCursor : null, hasMore: hasNextPage };
}

export function pageOf({ limit, cursor }: { readonly limit?: number; readonly cursor?: string }): {
  first: number;
  after: string | null;
} {
  return { first: limit ?? AGENT_LIMITS.pageDefault, after: cursor ?? null };
}

/** The filter of a list: of one workspace, or of all. */
export function within(workspace: { readonly id: string } | null): object {
  return workspace === null ? {} : { workspaceId: { eq: workspace.id } };
}

export interface Page<Node> {
  readonly found: { readonly nodes: readonly Node[]; readonly pageInfo: PageInfo };
}

export interface PageVariables {
  readonly filter: object;
  readonly first: number;
  readonly after: string | null;
}
