/** `npm run secrets`: the secrets of an installation, new ones, and each changed step by step while the installation serves. */
import { renameSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { readWords } from '../command-options.ts';
import { UserError } from '../user-error.ts';
import { composeSecrets } from './compose-secrets.ts';
import { cellSecrets, newSecrets, passwordsSql } from './new-secrets.ts';
import { rotate, statusOf } from './rotate.ts';
import { ROTATIONS } from './rotations.ts';
import { envText, readSecretsFile, secretsFileText, secretText, type SecretsFile } from './secrets-file.ts';
import { refuseWhileSealed } from './still-sealed.ts';

const USAGE = `npm run secrets [-- options], with -s to print only the secrets:

npm run -s secrets -- --format env|kubernetes --database <address> --nats <addresses> [--replica <address>]
  Prints all secrets of a new installation: lines KEY=value, or a Secret of Kubernetes. The addresses have no user and no password:
  postgres://db.internal/wts?sslmode=verify-full, nats://nats-0:4222,nats://nats-1:4222.

npm run -s secrets -- --format compose [--host localhost]
  Prints the .env of infra/compose.yaml: all secrets, with the addresses of its stores, and a certificate for this name.

npm run -s secrets -- cell <shard> --file <file> --format env|kubernetes --database <address> --nats <addresses>
  Prints all secrets of a further cell, and adds to the file, which has those of the installation with auth, what auth needs of it.

npm run -s secrets -- rotate <name> add|use|drop [--file <file>] [--database <address>] [--now]
  Makes one step of a change: reads the file of secrets and prints it after the step, with --file in place. The file has lines
  KEY=value, or is what "kubectl get secret wts-secrets -o json" prints. What to do with it is printed on stderr.
  --database: of the service whose rows the key encrypts, with user and password, where the address of the file does not lead to it
  from here. --now: drops the old secret before what was made with it has ended, and asks no database.

npm run -s secrets -- status [--file <file>]
  Prints what can be changed, and how far each change is.

npm run -s secrets -- sql [--file <file>]
  Prints SQL that gives the roles of PostgreSQL the passwords of the file.`;

const OPTIONS = {
  format: { type: 'string' },
  database: { type: 'string' },
  replica: { type: 'string' },
  nats: { type: 'string' },
  host: { type: 'string', default: 'localhost' },
  file: { type: 'string' },
  now: { type: 'boolean', default: false },
} as const;
type Options = NonNullable<ReturnType<typeof readWords<typeof OPTIONS>>>['values'];

try {
  await main();
} catch (error) {
  if (!(error instanceof UserError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

async function main(): Promise<void> {
  const read = readWords(USAGE, OPTIONS);
  if (read === null) return;
  const { values: options, positionals } = read;
  const [command, name = '', step = '', ...more] = positionals;
  if (more.length > 0) throw new UserError(`There is no word "${more[0]}" here.\n\n${USAGE}`);
  if (command === undefined) return print(await made(options));
  if (options.file === undefined && process.stdin.isTTY)
    throw new UserError('Name the file of secrets with --file, or give it on stdin.');
  const text = options.file === undefined ? await textOf(process.stdin) : secretsFileText(pathOf(options.file));
  const file = readSecretsFile(text);
  if (command === 'cell') return addCell(file, name, options);
  if (command === 'status') return print(statusOf(file.values));
  if (command === 'sql') return print(passwordsSql(file.values));
  if (command !== 'rotate') throw new UserError(`There is no command "${command}".\n\n${USAGE}`);
  const seals = step === 'drop' && !options.now ? ROTATIONS[name]?.seals : undefined;
  const rotated = rotate(file.values, name, step, { nowMs: Date.now(), isUrgent: options.now });
  if (seals !== undefined) await refuseWhileSealed(file.values, seals, options.database);
  if (options.file === undefined) print(file.write(rotated.values));
  else replace(pathOf(options.file), file.write(rotated.values));
  console.error(rotated.advice);
}

async function made({ format, database, nats, replica, host }: Options): Promise<string> {
  if (format === 'compose') return envText(await composeSecrets(host));
  if (database === undefined || nats === undefined || (format !== 'env' && format !== 'kubernetes'))
    throw new UserError(USAGE);
  const values = newSecrets({ database, nats, replica });
  return format === 'env' ? envText(values) : secretText(values);
}

function addCell({ values, write }: SecretsFile, shard: string, options: Options): void {
  const { database, nats, replica, format, file } = options;
  if (!/^[1-9][0-9]*$/.test(shard) || database === undefined || nats === undefined || file === undefined)
    throw new UserError(USAGE);
  const { cell, first } = cellSecrets(values, Number(shard), { database, nats, replica });
  replace(pathOf(file), write(first));
  print(format === 'env' ? envText(cell) : secretText(cell));
}

/** A rename, because half a file of secrets would be worse than the old one. */
function replace(path: string, text: string): void {
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

function pathOf(file: string): string {
  return resolve(process.env['INIT_CWD'] ?? '.', file);
}

function print(text: string): void {
  process.stdout.write(text);
}
