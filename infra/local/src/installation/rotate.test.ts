import assert from 'node:assert/strict';
import { newSecrets } from './new-secrets.ts';
import { rotate } from './rotate.ts';
import { envText, readSecretsFile, secretsFileText, secretText, type SecretValues } from './secrets-file.ts';

const NOW = Date.parse('2026-11-26T12:00:00Z');
const DAY_MS = 86_400_000;
const FIRST = newSecrets({ database: 'postgres://db/wts', nats: 'nats://n0:4222' });
const valueOf = (values: SecretValues, key: string): string => values[key] ?? assert.fail(`no ${key}`);

describe('a step of a change of secrets', () => {
  it('refuses a step that is not the next one, and says which one is [secrets.steps]', () => {
    const nowMs = NOW;
    const at = (values: SecretValues, step: string, now = nowMs): SecretValues =>
      rotate(values, 'replay', step, { nowMs: now }).values;
    assert.throws(() => at(FIRST, 'use'), /nothing to use\. Begin with "add"/);
    assert.throws(() => at(FIRST, 'drop'), /Begin with "add"/);
    assert.throws(() => at(FIRST, 'remove'), /The steps are add, use, drop\. The next one of replay is "add"/);
    assert.throws(
      () => rotate(FIRST, 'constructor', 'add', { nowMs }),
      /no rotation "constructor"\. They are internal-keys,/,
    );
    const added = at(FIRST, 'add');
    assert.throws(() => at(added, 'add'), /"add" of replay was made already.*next step is "use"/);
    assert.throws(() => at(added, 'drop'), /Before "drop" of replay comes "use"/);
    const used = at(added, 'use');
    assert.throws(() => at(used, 'use'), /"use" of replay was made already/);
    assert.throws(() => at(used, 'drop', nowMs + DAY_MS - 1), /needed until 2026-11-27T12:00:00\.000Z/);
    at(used, 'drop', nowMs + DAY_MS);
    rotate(used, 'replay', 'drop', { nowMs, isUrgent: true });
    assert.throws(() => rotate({ A: 'b' }, 'replay', 'add', { nowMs }), /has nothing of replay/);
  });

  it('may be one of several at the same time', () => {
    const one = rotate(FIRST, 'replay', 'add', { nowMs: NOW }).values;
    const two = rotate(rotate(one, 'database', 'add', { nowMs: NOW }).values, 'database', 'use', { nowMs: NOW }).values;
    const rest = rotate(rotate(two, 'replay', 'use', { nowMs: NOW }).values, 'database', 'drop', { nowMs: NOW }).values;
    assert.deepEqual(Object.keys(JSON.parse(valueOf(rest, 'ROTATIONS')) as object), ['replay']);
  });

  it('uses a password of PostgreSQL that processes with the file before know, because compose sets it before it replaces them', () => {
    let values = FIRST;
    const passwordIn = (file: SecretValues): string => new URL(valueOf(file, 'SYNC_DATABASE_URL')).password;
    for (const step of ['add', 'use', 'drop']) {
      const known = [passwordIn(values), values['SYNC_DATABASE_OTHER_PASSWORD']];
      ({ values } = rotate(values, 'database', step, { nowMs: NOW }));
      assert.ok(known.includes(passwordIn(values)), step);
    }
  });

  it('may be a password beside an address without one, as the chart has it', () => {
    const values = { SYNC_PGPASSWORD: 'old', SYNC_DATABASE_URL: 'postgres://wts_sync@db/wts' };
    const { values: used } = rotate(rotate(values, 'database', 'add', { nowMs: NOW }).values, 'database', 'use', {
      nowMs: NOW,
    });
    assert.equal(used['SYNC_DATABASE_URL'], values.SYNC_DATABASE_URL);
    assert.equal(used['SYNC_DATABASE_OTHER_PASSWORD'], 'old');
    assert.match(valueOf(used, 'SYNC_PGPASSWORD'), /^p\w+$/);
  });
});

describe('the file of secrets', () => {
  it('keeps its comments and its order, and is read as it was written', () => {
    const text = `# Of production\n\n${envText(FIRST)}# The end\n`;
    const file = readSecretsFile(text);
    assert.deepEqual(file.values, FIRST);
    assert.equal(file.write(file.values), text);
    assert.equal(file.write({ ...FIRST, NEW: 'x=y' }), `${text}NEW=x=y\n`);
    assert.throws(() => readSecretsFile('A=1\nno line'), /Line 2 .* is not KEY=value/);
    assert.throws(() => readSecretsFile(' '), /is empty/);
    assert.throws(
      () => secretsFileText('/nowhere/wts.env'),
      /^UserError: The file of secrets .* cannot be read \(ENOENT\)/,
    );
    assert.throws(() => secretsFileText(import.meta.dirname), /cannot be read \(EISDIR\)/);
  });

  it('may be a Secret of Kubernetes, of which only what belongs to it is written', () => {
    const annotations = { kept: 'yes', 'kubectl.kubernetes.io/last-applied-configuration': 'all secrets' };
    const metadata = { name: 'wts', namespace: 'prod', resourceVersion: '7', annotations };
    const given = JSON.parse(secretText(FIRST, metadata)) as object;
    const file = readSecretsFile(JSON.stringify({ ...given, stringData: { MORE: 'ä' } }));
    assert.deepEqual(file.values, { ...FIRST, MORE: 'ä' });
    const written = { name: 'wts', namespace: 'prod', annotations: { kept: 'yes' } };
    assert.deepEqual(JSON.parse(file.write(FIRST)), JSON.parse(secretText(FIRST, written)));
    assert.throws(() => readSecretsFile('{"kind":"ConfigMap"}'), /no Secret of Kubernetes/);
    assert.throws(
      () => readSecretsFile('{"A": "b'),
      (error: Error) => !error.message.includes('"b'),
    );
  });
});
