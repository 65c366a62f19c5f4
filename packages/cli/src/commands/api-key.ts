/** Personal API keys. Keeps api-keys.cli.create, api-keys.cli.revoke. */
import { randomUUID } from 'node:crypto';
import type { Call } from '../call.ts';
import { usageFault } from '../fault.ts';
import type { Column, View } from '../output/view.ts';
import { refusalFault } from '../session/fault-of.ts';
import { isId, pick } from './pick.ts';

interface Key {
  readonly id: string;
  readonly label: string;
  readonly keyPrefix: string;
  readonly permissions: string;
  readonly workspaceId: string | null;
  readonly expiresAt: string | null;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
}

const VIEW: View<Key> = {
  nouns: ['API key', 'API keys'],
  id: ({ id }) => id,
  columns: [
    { title: 'ID', value: ({ id }) => id, shown: ({ id }) => id.slice(0, 8) },
    { title: 'LABEL', value: ({ label }) => label, isCut: true },
    { title: 'KEY', value: ({ keyPrefix }) => keyPrefix, shown: ({ keyPrefix }) => `${keyPrefix}…` },
    { title: 'ACCESS', value: ({ permissions }) => permissions },
    { title: 'WORKSPACE', value: ({ workspaceId }) => workspaceId, shown: ({ workspaceId }) => workspaceId ?? 'all' },
    dateColumn('EXPIRES', ({ expiresAt }) => expiresAt),
    dateColumn('USED', ({ lastUsedAt }) => lastUsedAt),
  ],
};

function dateColumn(title: string, value: (key: Key) => string | null): Column<Key> {
  return { title, value, shown: (key) => value(key)?.slice(0, 10) ?? 'never' };
}

const CREATE = `mutation CliApiKeyCreate(
  $label: String!, $permissions: ApiKeyPermissions!, $workspaceId: ID, $expiresAt: DateTime, $clientTxId: String
) {
  apiKeyCreate(
    label: $label, permissions: $permissions, workspaceId: $workspaceId, expiresAt: $expiresAt, clientTxId: $clientTxId
  ) {
    token error { code message }
    apiKey { id label keyPrefix workspaceId expiresAt createdAt lastUsedAt }
  }
}`;

interface Created {
  readonly apiKeyCreate: {
    readonly token: string | null;
    readonly error: { readonly code: string; readonly message: string } | null;
    readonly apiKey: Omit<Key, 'permissions'> | null;
  };
}

const LOST = { code: 'conflict', message: 'The key was made before and does not exist any more.' };

const PERMISSIONS: Readonly<Record<string, string>> = { 'read-only': 'READ_ONLY', 'full-access': 'FULL_ACCESS' };
const DAY_MS = 24 * 60 * 60_000;
const DAYS = { min: 1, max: 3_650 } as const;

export async function create({ words, options, output, session, io, signal }: Call): Promise<void> {
  const permissions = options.text('permissions');
  if (permissions === undefined) throw usageFault('Say what the key may do: --permissions read-only, or full-access.');
  const days = options.number('days', DAYS);
  const named = options.text('workspace');
  const { api, names } = await session();
  const variables = {
    // A request whose answer was lost is repeated, and makes one key.
    clientTxId: randomUUID(),
    label: words.join(' '),
    permissions: PERMISSIONS[permissions],
    // Only a workspace of the command line: that of a profile is where tasks go.
    workspaceId: named === undefined ? null : (await (await names()).workspace(named)).id,
    expiresAt: days === undefined ? null : new Date(io.now().getTime() + days * DAY_MS).toISOString(),
  };
  const { apiKeyCreate: made } = await api.graphql<Created>(CREATE, variables, { isRepeatable: true, signal });
  if (made.error !== null || made.apiKey === null) throw refusalFault(made.error ?? LOST);
  const key = { ...made.apiKey, permissions, token: made.token };
  await output.note(`Created ${key.label}: ${permissions}, id ${key.id}. Store the key now; it is not shown again.`);
  // Alone on stdout, so that a script can pass it on.
  if (output.isJson) return output.record(key, key.id, []);
  await output.text(`${key.token}\n`);
}

export async function list({ options, output, session }: Call): Promise<void> {
  const named = options.text('workspace');
  const { api, names } = await session();
  const input = named === undefined ? {} : { workspaceId: (await (await names()).workspace(named)).id };
  await output.list((await api.listApiKeys(input)).keys, VIEW);
}

export async function revoke({ words, options, output, session }: Call): Promise<void> {
  const [word = ''] = words;
  const { api } = await session();
  const found = isId(word) ? { id: word, label: word } : keyOf(word, (await api.listApiKeys({})).keys);
  await api.revokeApiKey({ keyId: found.id, ...(options.flag('includeMade') ? { includeMade: 'true' } : {}) });
  const line = `Revoked ${found.label}. It stops working within a second.`;
  await output.changed({ id: found.id }, { id: found.id, key: found.label, line });
}

/** A part of a label names no key, because a revoked key does not come back. */
function keyOf(word: string, keys: readonly Key[]): Key {
  return pick(word, keys, {
    nouns: ['API key', 'keys'],
    isExact: ({ label }, text) => label.toLowerCase() === text,
    isNear: ({ keyPrefix }, text) => text.length >= 6 && keyPrefix.toLowerCase().startsWith(text.replace(/…$/, '')),
    shown: ({ label, keyPrefix }) => `${keyPrefix}…  ${label}`,
    listedBy: 'wts api-key list shows your keys',
  });
}
