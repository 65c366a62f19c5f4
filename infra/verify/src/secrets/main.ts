/**
 * `npm run verify:secrets`: changes every secret of a system with two processes of each service, step by step, while requests of every
 * kind are sent. Exits with 0 when none failed, every webhook arrived with a right signature, and the old secrets are refused.
 */
import { parseIssuers, parsePrivateKey, servicePrincipal, tokenMinter } from '@wts/access';
import { verifyWebhook } from '@wts/client';
import { NATS_USERS, webhookApi } from '@wts/contracts';
import { natsPasswordOf, optionsOrExit, rotate, ROTATIONS, secretKey, type SecretValues } from '@wts/local';
import { parseSecretKeys } from '@wts/service-kit/sealing';
import { eventually, receiver, signToken, testAuthority, type Issuer } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { connect } from 'nats';
import { Client } from 'pg';
import { Installation } from './installation.ts';
import { Requests } from './requests.ts';

optionsOrExit('npm run verify:secrets [-- --help]: takes about three minutes, and no other options', {});

const began = performance.now();
const print = (line: string): void =>
  console.log(`${String(Math.round((performance.now() - began) / 1000)).padStart(4)} s  ${line}`);
const NATS_PASSWORD = `p${randomBytes(16).toString('hex')}`;

const authority = await testAuthority();
await using installation = await Installation.start(authority.caFile);
const { system } = installation;
await using consumer = await receiver({ identity: await authority.issue() });
const made = await system.request(system.apiKey, 'POST', webhookApi.createEndpoint.path, {
  body: { url: consumer.url, workspaceId: system.workspaceId, eventTypes: ['task.created'] },
});
const { secret } = made.json() as { secret: string };
const requests = new Requests(installation);
const stop = new AbortController();
const running = requests.run(stop.signal);

const first = installation.firstFile();
let file = first;
for (const step of ['add', 'use', 'drop'] as const) {
  for (const name of Object.keys(ROTATIONS))
    file = rotate(file, name, step, { nowMs: Date.now(), isUrgent: true }).values;
  if (step === 'add') file = withNatsPasswords(file);
  await installation.roll(file, (name) => print(`${step}: ${name}`));
  if (step === 'add') requests.issuer = issuerOf(file);
  if (step !== 'use') continue;
  await installation.changeRoles(file);
  await installation.changeNats(NATS_PASSWORD);
  await installation.untilSealed({
    auth: parseSecretKeys(file['AUTH_SECRET_KEY'] ?? '').current.id,
    webhooks: parseSecretKeys(file['WEBHOOK_SECRET_KEY'] ?? '').current.id,
  });
  print('PostgreSQL and NATS have new passwords, and nothing is sealed with an old key');
}
stop.abort();
await running;

print(`${requests.sent} requests, ${requests.failures.length} failed`);
for (const failure of new Set(requests.failures)) print(`  ${failure}`);
assert.equal(requests.failures.length, 0, 'no request fails');
await everyWebhook();
await oldSecretsAreRefused();
print('Passed: no request failed, no webhook is missing, and every old secret is refused.');

/** In place of random ones, those that the test server derives. */
function withNatsPasswords(values: SecretValues): SecretValues {
  const passwords = NATS_USERS.map((user): [string, string] => [
    secretKey(user, 'NATS_OTHER_PASSWORD'),
    natsPasswordOf(user, NATS_PASSWORD),
  ]);
  return { ...values, ...Object.fromEntries(passwords) };
}

/** The identity provider, signing with the last secret of its list. */
function issuerOf(values: SecretValues): Issuer {
  const [issuer] = parseIssuers(values['JWT_ISSUERS'] ?? '');
  assert.ok(issuer !== undefined && 'secrets' in issuer.key);
  return { ...system.jwt, secret: issuer.key.secrets.at(-1) ?? '' };
}

async function everyWebhook(): Promise<void> {
  const isAll = (): boolean => {
    const bodies = consumer.received.map(({ body }) => body).join('');
    return requests.taskIds.every((id) => bodies.includes(id));
  };
  await eventually(isAll);
  for (const { headers, body } of consumer.received) await verifyWebhook(secret, headers, body);
  print(`${requests.taskIds.length} changes, each with a webhook that is signed with the secret of its endpoint`);
}

async function oldSecretsAreRefused(): Promise<void> {
  const asSession = await system.request(signToken(system.jwt, 'old', { name: 'Old' }), 'GET', '/api/workspaces');
  assert.equal(asSession.status, 401, 'the old secret of the issuer');
  const key = parsePrivateKey(first[secretKey('graph', 'INTERNAL_TOKEN_KEY')] ?? '');
  const token = tokenMinter({ from: 'graph', to: 'sync', key })(servicePrincipal('graph'));
  const answer = await fetch(`${system.service('sync').url}/sync/deltas`, {
    headers: { authorization: `Bearer ${token}` },
  });
  assert.equal(answer.status, 401, 'the old key of a service');
  await assert.rejects(
    new Client({ connectionString: first[secretKey('sync', 'DATABASE_URL')] }).connect(),
    { code: '28P01' },
    'the old password of a role',
  );
  const { port } = installation.nats;
  const pass = natsPasswordOf('sync', system.secrets.natsPassword);
  await assert.rejects(
    connect({ port, user: 'wts_sync', pass, reconnect: false }),
    /AUTHORIZATION/i,
    'the old password of NATS',
  );
}
