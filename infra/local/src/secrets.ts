import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** The demo workspace that the seed created. */
export interface DemoWorkspace {
  readonly userId: string;
  readonly workspaceId: string;
  readonly apiKey: string;
  readonly readOnlyApiKey: string;
  /** The account of its owner at the authorization origin. */
  readonly person: { readonly email: string; readonly password: string };
}

/** Created once per stack and stored, because the data and the issued keys outlive a start. */
export interface Secrets {
  readonly postgresPassword: string;
  readonly natsPassword: string;
  readonly internalTokenSecret: string;
  readonly jwtSecret: string;
  /** Encrypts the signing secrets of webhook endpoints. */
  readonly webhookSecretKey: string;
  /** Encrypts the keys that sign access tokens. */
  readonly authSecretKey: string;
  /** The key of role passwords when the administrator of the server has no password. */
  readonly roleKey: string;
  /** Absent before the first seed. */
  readonly demo?: DemoWorkspace;
  /** The ports of the last start. The next start uses them again when they are free, so that URLs stay the same. */
  readonly postgresPort?: number;
  readonly natsPort?: number;
}

export function makeSecrets(): Secrets {
  const text = () => randomBytes(32).toString('base64url');
  return {
    postgresPassword: text(),
    natsPassword: text(),
    internalTokenSecret: text(),
    jwtSecret: text(),
    webhookSecretKey: randomBytes(32).toString('base64'),
    authSecretKey: randomBytes(32).toString('base64'),
    roleKey: text(),
  };
}

export function readSecrets(file: string): Secrets {
  try {
    return { ...makeSecrets(), ...(JSON.parse(readFileSync(file, 'utf8')) as Partial<Secrets>) };
  } catch {
    return makeSecrets();
  }
}

export function writeSecrets(file: string, secrets: Secrets): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // A rename, because an incomplete file would lose the passwords of the data.
  writeFileSync(`${file}.new`, JSON.stringify(secrets, null, 2), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
