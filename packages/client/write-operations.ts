/** The text of `src/api/operations.ts`, from the contracts of REST. */
import {
  accessApi,
  apiKeyApi,
  contractsOf,
  memberApi,
  privateProjectApi,
  webhookApi,
  workspaceApi,
  workspaceSecurityApi,
} from '@wts/contracts';
import type { Contract } from '@wts/contracts';
import { typeOf, type Schema } from './write-types.ts';

const APIS = [workspaceApi, memberApi, privateProjectApi, apiKeyApi, accessApi, workspaceSecurityApi, webhookApi];
const CONTRACTS = APIS.flatMap(contractsOf).filter(({ internal }) => internal === undefined);

export function operationsText(): string {
  const named = namedTypes();
  return `
import type { CallOptions } from '../retry.ts';
import type { OperationOptions } from './request.ts';

${[...named].map(([text, name]) => `export type ${name} = ${inLines(text)};\n`).join('\n')}
/** Each operation takes one object: the names in its path, of its query and of its body. */
export interface Operations {
${CONTRACTS.map((one) => signature(one, named)).join('\n\n')}
}
`;
}

/** The text of `src/api/operation-rows.ts`. */
export function operationRowsText(): string {
  return `
import type { Operations } from './operations.ts';
import type { OperationRow } from './request.ts';

/** How each operation is sent. */
export const OPERATIONS = {
${CONTRACTS.map(row).join('\n')}
} as const satisfies Readonly<Record<keyof Operations, OperationRow>>;
`;
}

function row({ id, method, path, body, idempotencyKey, reply }: Contract): string {
  const hasResult = Object.keys(reply.schema['properties'] as object).some((name) => name !== 'ok');
  const flags = [
    ...(body === undefined ? [] : ['hasBody']),
    ...(idempotencyKey ? ['hasKey'] : []),
    ...(method === 'DELETE' && !hasResult ? ['isDeletion'] : []),
  ];
  const names = (reply.schema['required'] as string[]).map((name) => `'${name}'`).join(', ');
  return `  ${id}: { method: '${method}', path: '${path}'${flags.map((flag) => `, ${flag}: true`).join('')}, reply: [${names}] },`;
}

function signature(operation: Contract, named: ReadonlyMap<string, string>): string {
  const { id, summary, description, idempotencyKey } = operation;
  const given = `input${needsInput(operation) ? '' : '?'}: ${inputOf(operation)}`;
  const options = idempotencyKey ? 'OperationOptions' : 'CallOptions';
  const text = description === undefined ? `${summary}.` : `${summary}. ${description.replaceAll(/\s+/g, ' ')}`;
  return `  /** ${text} */\n  readonly ${id}: (${given}, options?: ${options}) => Promise<${replyOf(operation, named)}>;`;
}

const partsOf = ({ params, query, body }: Contract): Schema[] =>
  [params, query, body].filter((one) => one !== undefined);

function needsInput(operation: Contract): boolean {
  return partsOf(operation).some(({ required = [] }) => (required as string[]).length > 0);
}

function inputOf(operation: Contract): string {
  if (partsOf(operation).length === 0) return 'Readonly<Record<string, never>>';
  const properties = partsOf(operation).flatMap((part) => Object.keys(part['properties'] ?? {}));
  if (new Set(properties).size < properties.length) throw new Error(`${operation.id} has a name twice in its input.`);
  const merged = {
    type: 'object',
    required: partsOf(operation).flatMap(({ required = [] }) => required as string[]),
    properties: Object.assign({}, ...partsOf(operation).map(({ properties: some }) => some)) as Schema,
  };
  return typeOf(merged);
}

function replyOf({ reply }: Contract, named: ReadonlyMap<string, string>): string {
  return [...named].reduce((text, [shape, name]) => text.replaceAll(shape, name), typeOf(reply.schema));
}

/** Where the name in a reply alone says too little. */
const NAMES: Readonly<Record<string, string>> = {
  key: 'ApiKey',
  endpoint: 'WebhookEndpoint',
  delivery: 'WebhookDelivery',
  attempt: 'WebhookAttempt',
  project: 'PrivateProject',
};

/** The records of replies, by their texts. Lists come first, because a reply to a creation may have more than the record. */
function namedTypes(): ReadonlyMap<string, string> {
  const properties = CONTRACTS.flatMap(({ reply }) =>
    Object.entries(reply.schema['properties'] as Record<string, Schema>),
  );
  const listed = properties.flatMap(([name, { items }]) =>
    items === undefined ? [] : [[singular(name), items] as const],
  );
  const named = new Map<string, string>();
  for (const [property, schema] of [...listed, ...properties] as [string, Schema][]) {
    const name = NAMES[property] ?? `${property.charAt(0).toUpperCase()}${property.slice(1)}`;
    const text = typeOf(schema);
    if (text.startsWith('{') && !named.has(text) && ![...named.values()].includes(name)) named.set(text, name);
  }
  return named;
}

const singular = (property: string): string => property.replace(/ies$/, 'y').replace(/s$/, '');

/** One field on each line. */
function inLines(text: string): string {
  return text
    .replace(/^\{ /, '{\n  ')
    .replaceAll(/; (?=\/\*\* .*? \*\/ readonly |readonly )/g, ';\n  ')
    .replaceAll(' */ readonly', ' */\n  readonly')
    .replace(/ \}$/, '\n}');
}
