import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** What the seed made or found again. */
export interface Demo {
  readonly userId: string;
  readonly workspaceId: string;
  readonly apiKey: string;
  readonly readOnlyApiKey: string;
}

/** Made once per stack and kept, because data and issued keys outlive a start. */
export interface Secrets {
  readonly postgresPassword: string;
  readonly natsPassword: string;
  readonly internalTokenSecret: string;
  readonly jwtSecret: string;
  /** For role passwords on a server whose administrator has no password. */
  readonly roleKey: string;
  /** The demo workspace, once there is one. */
  readonly demo?: Demo;
  /** Ports of the last start, taken again when free, so that a URL in somebody's notes goes on working. */
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

export function keepSecrets(file: string, secrets: Secrets): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // Whole or not at all: half a file would lock us out of our own data.
  writeFileSync(`${file}.new`, JSON.stringify(secrets, null, 2), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
