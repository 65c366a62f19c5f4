import {
  parseIssuers,
  parsePrivateKey,
  parsePublicKeys,
  servicePrincipal,
  tokenMinter,
  tokenReader,
} from '@wts/access';
import { CALLS } from '@wts/contracts';
import { newSecrets, rotate, ROTATIONS, secretKey, SERVICES, type SecretValues } from '@wts/local';
import { parseReplaySecrets } from '@wts/service-kit/config';
import { parseSecretKeys, sealSecret, unsealSecret } from '@wts/service-kit/sealing';
import assert from 'node:assert/strict';

const NOW = Date.parse('2026-11-26T12:00:00Z');
const DAY_MS = 86_400_000;
const ISSUER = {
  issuer: 'https://id.example',
  audiences: ['wts'],
  algorithms: ['HS256'],
  secret: 'kV7pQ2xLw9ZrT4sBnY6mHc3DfGjA8eUq',
};

const FIRST: SecretValues = {
  ...newSecrets({ database: 'postgres://db/wts', replica: 'postgres://ro/wts', nats: 'nats://n0:4222,nats://n1:4222' }),
  JWT_ISSUERS: JSON.stringify([
    ISSUER,
    { ...ISSUER, issuer: 'b', algorithms: ['RS256'], secret: undefined, jwksUri: 'https://b/' },
  ]),
};

/** The files of the installation: before, and after each step. */
function filesOf(name: string): SecretValues[] {
  const files = [FIRST];
  for (const [index, step] of ['add', 'use', 'drop'].entries())
    files.push(rotate(files.at(-1) ?? {}, name, step, { nowMs: NOW + index * 2 * DAY_MS }).values);
  return files;
}

const valueOf = (values: SecretValues, key: string): string => values[key] ?? assert.fail(`no ${key}`);

/** Whether what a process with the file `used` makes is accepted by one with the file `known`. One for each rotation. */
const ACCEPTS: Readonly<Record<string, (used: SecretValues, known: SecretValues) => boolean>> = {
  'internal-keys': (used, known) =>
    SERVICES.every(({ name }) =>
      CALLS[name].every((to) => {
        const key = parsePrivateKey(valueOf(used, secretKey(name, 'INTERNAL_TOKEN_KEY')));
        const read = tokenReader(to, parsePublicKeys(valueOf(known, 'INTERNAL_TOKEN_PUBLIC_KEYS')));
        return works(() => read(tokenMinter({ from: name, to, key })(servicePrincipal(name))));
      }),
    ),
  replay: (used, known) =>
    ['auth', 'workspace', 'webhook-dispatcher', 'graph'].every((name) => {
      const key = secretKey(name, 'REPLAY_SECRET');
      return parseReplaySecrets(valueOf(known, key)).includes(parseReplaySecrets(valueOf(used, key))[0]);
    }),
  'webhook-key': (used, known) => unseals('WEBHOOK_SECRET_KEY', used, known),
  'auth-key': (used, known) => unseals('AUTH_SECRET_KEY', used, known),
  // The issuer signs with the first secret before the file of `use`, and with the second one from then on.
  issuers: (used, known) => {
    const secretsOf = (values: SecretValues): readonly string[] => {
      const [issuer] = parseIssuers(valueOf(values, 'JWT_ISSUERS'));
      return issuer !== undefined && 'secrets' in issuer.key ? issuer.key.secrets : [];
    };
    return secretsOf(known).includes(secretsOf(used)[0] ?? '');
  },
  // `used` stands for the password that the server accepts.
  database: (used, known) =>
    SERVICES.filter(({ database }) => database !== undefined).every(({ name }) =>
      knows(
        known,
        name,
        ['DATABASE_URL', 'DATABASE_OTHER_PASSWORD'],
        passwordIn(used, secretKey(name, 'DATABASE_URL')),
      ),
    ),
  nats: (used, known) =>
    ['gateway', 'workspace', 'auth', 'sync', 'webhook-dispatcher'].every((name) =>
      knows(
        known,
        name,
        ['NATS_URL', 'NATS_OTHER_PASSWORD'],
        valueOf(used, `NATS_PASSWORD_${name.toUpperCase().replace('-', '_')}`),
      ),
    ),
};

function works(run: () => unknown): boolean {
  try {
    run();
    return true;
  } catch {
    return false;
  }
}

function unseals(key: string, used: SecretValues, known: SecretValues): boolean {
  const sealed = sealSecret(parseSecretKeys(valueOf(used, key)), 'row', Buffer.from('x'));
  return works(() => unsealSecret(parseSecretKeys(valueOf(known, key)), 'row', sealed));
}

function passwordIn(values: SecretValues, key: string): string {
  return new URL(valueOf(values, key).split(',')[0] ?? '').password;
}

function knows(values: SecretValues, name: string, [url, other]: readonly [string, string], password: string): boolean {
  return [passwordIn(values, secretKey(name, url)), values[secretKey(name, other)]].includes(password);
}

describe('a secret that is changed step by step', () => {
  it('has a test for each rotation, and a rotation for each secret that a new installation has', () => {
    assert.deepEqual(Object.keys(ACCEPTS), Object.keys(ROTATIONS));
    const changed = new Set(
      Object.keys(ROTATIONS).flatMap((name) => {
        const last = filesOf(name).at(-1) ?? {};
        return Object.keys(FIRST).filter((key) => FIRST[key] !== last[key]);
      }),
    );
    assert.deepEqual(
      Object.keys(FIRST).filter((key) => !changed.has(key)),
      [],
    );
  });

  for (const [name, accepts] of Object.entries(ACCEPTS)) {
    it(`${name}: a process with the file of a step and one with the next accept each other; in the end the old one is refused [secrets.steps]`, () => {
      const files = filesOf(name);
      for (const [index, file] of files.entries()) {
        assert.ok(accepts(file, file));
        const next = files[index + 1];
        if (next === undefined) continue;
        assert.ok(accepts(file, next), `what step ${index} makes is accepted after step ${index + 1}`);
        assert.ok(accepts(next, file), `what step ${index + 1} makes is accepted after step ${index}`);
      }
      const [before = {}, , , last = {}] = files;
      assert.ok(!accepts(before, last), 'the old secret is refused');
      assert.deepEqual(Object.keys(last), Object.keys(before), 'nothing of the change is left in the file');
    });
  }
});
