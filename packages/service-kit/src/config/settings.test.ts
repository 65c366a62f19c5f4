import { generateServiceKey } from '@wts/access';
import assert from 'node:assert/strict';
import { refuseCaFile } from './ca-file.ts';
import { callerSettings, parseReplaySecrets, replaySettings, serviceSettings } from './service-settings.ts';
import { ConfigError, defineSettings, describeSettings, parseSettings, setting } from './settings.ts';

const PUBLISHED = { INTERNAL_TOKEN_PUBLIC_KEYS: JSON.stringify({ gateway: [generateServiceKey().publicKey] }) };
const settings = defineSettings({
  port: setting.port('PORT', { default: 4000, doc: 'Port.' }),
  name: setting.text('NAME', { doc: 'Name.', min: 2, max: 5, pattern: /^[a-z]+$/ }),
  pool: setting.int('POOL', { default: 10, min: 1, max: 100, doc: 'Pool.' }),
  grace: setting.durationMs('GRACE_MS', { default: 100, doc: 'Grace.' }),
  relay: setting.flag('RELAY', { default: true, doc: 'Relay.' }),
  mode: setting.oneOf('MODE', ['local', 'oidc'], { default: 'local', doc: 'Mode.' }),
  database: setting.url('DATABASE_URL', { doc: 'Database.', secret: true, protocols: ['postgres', 'postgresql'] }),
  peers: setting.urls('PEERS', { default: [], doc: 'Peers.' }),
  origins: setting.texts('ORIGINS', { default: [], doc: 'Origins.' }),
  rules: setting.json('RULES', { default: {}, doc: 'Rules.', read: (text) => JSON.parse(text) as object }),
  extra: setting.text('EXTRA', { optional: true, doc: 'Extra.' }),
});
const enough = { NAME: 'abc', DATABASE_URL: 'postgres://u:hunter2@db/x' };

function faultsOf(env: Record<string, string>): readonly string[] {
  try {
    parseSettings(settings, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
  }
  return [];
}

describe('the configuration', () => {
  it('is read from the environment, with defaults for what is absent or blank', () => {
    const config = parseSettings(settings, {
      ...enough,
      PORT: ' 0 ',
      POOL: '',
      PEERS: 'http://a:1, http://b:2,',
      RELAY: 'off',
    });
    assert.deepEqual(config, {
      port: 0,
      name: 'abc',
      pool: 10,
      grace: 100,
      relay: false,
      mode: 'local',
      database: enough.DATABASE_URL,
      peers: ['http://a:1', 'http://b:2'],
      origins: [],
      rules: {},
    });
  });

  it('with faults is refused with one message that names every fault', () => {
    const env = {
      PORT: '70000',
      POOL: '0',
      RELAY: 'maybe',
      MODE: 'x',
      DATABASE_URL: 'mysql://h/x',
      PEERS: 'http://a,b',
      RULES: '{',
    };
    const message = new ConfigError(faultsOf(env)).message;
    for (const variable of [...Object.keys(env), 'NAME'])
      assert.match(message, new RegExp(`^  - ${variable} `, 'm'), variable);
    assert.match(message, /^The configuration has 8 faults:/);
  });

  const wrong: Readonly<Record<string, [string, string]>> = {
    'a port that is no number': ['PORT', 'http'],
    'a port with a sign': ['PORT', '-1'],
    'a port in hexadecimal': ['PORT', '0x50'],
    'a number with a fraction': ['POOL', '1.5'],
    'a number with an exponent': ['POOL', '1e1'],
    'a number past the greatest': ['POOL', '101'],
    'a duration with a unit': ['GRACE_MS', '10s'],
    'a text that is too short': ['NAME', 'a'],
    'a text that is too long': ['NAME', 'abcdef'],
    'a text of another pattern': ['NAME', 'ABC'],
    'a URL that is none': ['DATABASE_URL', 'localhost'],
    'a list of URLs that is only commas': ['PEERS', ',,'],
  };
  for (const [what, [variable, value]] of Object.entries(wrong)) {
    it(`refuses ${what}`, () => {
      const faults = faultsOf({ ...enough, [variable]: value });
      assert.equal(faults.length, 1);
      assert.ok(faults[0]?.startsWith(`${variable} `));
    });
  }

  it('refuses a list for one text in it', () => {
    const even = setting.texts('EVEN', {
      doc: 'Even.',
      refuse: (text) => (Number(text) % 2 === 0 ? null : `has ${text}, which is odd`),
    });
    assert.deepEqual(parseSettings({ even }, { EVEN: '2, 4' }), { even: ['2', '4'] });
    assert.throws(() => parseSettings({ even }, { EVEN: '2,3' }), /EVEN has 3, which is odd/);
  });

  it('refuses a file of authorities that does not exist, cannot be read, or has no certificate', () => {
    const ca = setting.text('CA_FILE', { doc: 'Authorities.', refuse: refuseCaFile });
    const fault = (file: string): string => {
      try {
        return parseSettings({ ca }, { CA_FILE: file }).ca;
      } catch (refusal) {
        return (refusal as Error).message;
      }
    };
    assert.match(fault('/nowhere/ca.pem'), /CA_FILE names \/nowhere\/ca\.pem, which does not exist/);
    assert.match(fault(import.meta.dirname), /which cannot be read \(EISDIR\)/);
    assert.match(fault(import.meta.filename), /which has no certificate in PEM/);
  });

  it('never repeats a secret in a fault', () => {
    const text = faultsOf({ NAME: 'abc', DATABASE_URL: 'mysql://u:hunter2@db/x' }).join('\n');
    assert.match(text, /DATABASE_URL must be a URL that starts with postgres:\/\//);
    assert.ok(!text.includes('hunter2'));
  });

  it('of every service requires only the public keys of services', () => {
    assert.throws(
      () => parseSettings(serviceSettings, {}),
      /^[^\n]*1 fault:\n[^\n]*INTERNAL_TOKEN_PUBLIC_KEYS is missing/s,
    );
    assert.equal(parseSettings(serviceSettings, PUBLISHED).otelEndpoint, undefined);
  });

  it('of every service listens on this machine only', () =>
    assert.equal(parseSettings(serviceSettings, PUBLISHED).host, '127.0.0.1'));

  it('of a service that calls others refuses what is no private key, and does not repeat it [authentication.internal.rotation]', () => {
    for (const wrong of ['x'.repeat(64), generateServiceKey().publicKey]) {
      assert.throws(
        () => parseSettings(callerSettings, { INTERNAL_TOKEN_KEY: wrong }),
        ({ message }: Error) => message.includes('INTERNAL_TOKEN_KEY must be') && !message.includes(wrong),
      );
    }
  });

  it('refuses a REPLAY_SECRET that can be guessed, also as the second one, and does not repeat it [idempotency.rotation]', () => {
    const good = 'a secret of thirty-two characters or more';
    assert.deepEqual(parseReplaySecrets(parseSettings(replaySettings, { REPLAY_SECRET: good }).replaySecret), [good]);
    for (const weak of ['x'.repeat(31), 'x'.repeat(32), 'changeme'.repeat(4)]) {
      for (const text of [weak, `${good},${weak}`, `${weak}, ${good}`]) {
        assert.throws(
          () => parseSettings(replaySettings, { REPLAY_SECRET: text }),
          ({ message }: Error) =>
            message.includes('REPLAY_SECRET ') && message.includes('openssl') && !message.includes(weak),
        );
      }
    }
    assert.throws(() => parseSettings(replaySettings, { REPLAY_SECRET: ',' }), /at least 32/);
  });

  it('is described for the reference, with defaults as text and without secrets', () => {
    const rows = Object.fromEntries(describeSettings(settings).map((row) => [row.variable, row]));
    assert.deepEqual(rows.PORT, {
      variable: 'PORT',
      kind: 'port',
      doc: 'Port.',
      required: false,
      secret: false,
      default: '4000',
    });
    assert.deepEqual(rows.NAME?.required, true);
    assert.deepEqual(rows.EXTRA?.required, false);
    assert.deepEqual(rows.RELAY?.default, 'on');
    assert.deepEqual(rows.MODE?.kind, 'local | oidc');
    const hidden = defineSettings({ key: setting.text('KEY', { secret: true, default: 'hunter2', doc: 'Key.' }) });
    assert.ok(!JSON.stringify(describeSettings(hidden)).includes('hunter2'));
  });
});
