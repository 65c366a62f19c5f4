import { generateApiKey } from '@wts/access';
import { isUuid } from '@wts/contracts';
import { parseSettings } from '@wts/service-kit/config';
import { createLogger } from '@wts/service-kit/observe';
import { openPostgres, setOtherPassword } from '@wts/service-kit/postgres';
import { parseSecretKeys } from '@wts/service-kit/sealing';
import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { database, settings } from './config.ts';
import { OPERATOR_TOKEN_PREFIX } from './domain/operator-token.ts';
import { replaceSigningKey } from './oauth/signing-keys.ts';
import { operatorTokenStore, type OperatorTokenStore } from './store/operator-tokens.ts';
import { signingKeyStore } from './store/signing-keys.ts';

const USAGE = `Usage, with DATABASE_URL set:
  node services/auth/src/operator.ts token create <label>   prints a new token
  node services/auth/src/operator.ts token list
  node services/auth/src/operator.ts token revoke <id>
With AUTH_SECRET_KEY too:
  node services/auth/src/operator.ts signing-key rotate     a new key signs access tokens in an hour
  node services/auth/src/operator.ts signing-key replace    a new key signs at once, and tokens of the leaked one are refused`;
const LABEL_CHARACTERS_MAX = 100;

/** Null for words that are no command. */
async function manageTokens(tokens: OperatorTokenStore, words: readonly string[]): Promise<string | null> {
  const [noun, verb, ...rest] = words;
  const text = rest.join(' ').trim();
  if (noun !== 'token') return null;
  if (verb === 'create' && text !== '' && text.length <= LABEL_CHARACTERS_MAX) {
    const { token, hash } = generateApiKey(OPERATOR_TOKEN_PREFIX);
    await tokens.insert({ id: randomUUID(), tokenHash: hash, label: text });
    return token;
  }
  if (verb === 'list' && text === '') return (await tokens.list()).map((token) => JSON.stringify(token)).join('\n');
  if (verb === 'revoke' && isUuid(text)) return (await tokens.revoke(text)) ? 'Revoked.' : 'No such token works.';
  return null;
}

/** Null for words that are no command. */
async function manageSigningKeys(knex: Knex, words: readonly string[]): Promise<string | null> {
  const [noun, verb, ...rest] = words;
  if (noun !== 'signing-key' || rest.length > 0 || (verb !== 'rotate' && verb !== 'replace')) return null;
  const secretKeys = parseSecretKeys(parseSettings({ secretKey: settings.secretKey }, env).secretKey);
  await replaceSigningKey({ store: signingKeyStore(knex), secretKeys }, { isLeaked: verb === 'replace' });
  return verb === 'rotate' ? 'A new key signs in an hour.' : 'A new key signs within a minute, the others are deleted.';
}

/**
 * Operator tokens, and the keys of access tokens. Only who can run a program with the database of the service makes one, so no account and no request over the network
 * can become an operator. Keeps operator.token.made-here.
 */
const { argv, env, stdout, stderr } = process;
await using stack = new AsyncDisposableStack();
const { databaseUrl: url, otherPassword } = parseSettings(database, env);
setOtherPassword([url], otherPassword);
const log = createLogger({ name: 'auth-operator', level: 'warn', destination: stderr });
const { knex } = openPostgres({ url, poolMax: 1, applicationName: 'wts-auth-operator', log, stack });
const words = argv.slice(2);
const printed = (await manageTokens(operatorTokenStore(knex), words)) ?? (await manageSigningKeys(knex, words));
if (printed === null) stderr.write(`${USAGE}\n`);
else stdout.write(`${printed}\n`);
process.exitCode = printed === null ? 2 : 0;
