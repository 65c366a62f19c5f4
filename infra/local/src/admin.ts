/** `npm run admin -- ...`: `wts admin` as the operator of the system that `npm start` runs. */
import { processIo, run } from '@wts/cli';
import { readFileSync, writeFileSync } from 'node:fs';
import { PATHS } from './layout.ts';
import { readStackFile, type StackFile } from './stack-file.ts';

/** The exit code of a command that has no credential. */
const NOT_SIGNED_IN = 4;

const stack = readStackFile();
const io = processIo(process);
// These come before a profile, because the token is for this system alone.
const env =
  stack === null
    ? io.env
    : {
        ...io.env,
        WTS_URL: stack.baseUrl,
        WTS_AUTH_URL: stack.authUrl,
        WTS_OPERATOR_TOKEN: await operatorToken(stack),
      };
process.chdir(process.env['INIT_CWD'] ?? '.');
process.exitCode = await run(['admin', ...process.argv.slice(2)], { ...io, env });
if (stack === null && process.exitCode === NOT_SIGNED_IN)
  console.error('Beside a running npm start this has a token of its own; nothing runs here now.');

/** Made at the first use, and readable by its owner only; `npm start -- --fresh` deletes it with the data. */
async function operatorToken({ authDatabaseUrl }: StackFile): Promise<string> {
  try {
    return readFileSync(PATHS.operatorToken, 'utf8').trim();
  } catch {
    // Loading it takes half of the time of most commands.
    const { runScript } = await import('./database/migrate.ts');
    const words = ['token', 'create', 'npm run admin'];
    const token = await runScript('auth', 'operator', { DATABASE_URL: authDatabaseUrl }, words);
    writeFileSync(PATHS.operatorToken, token, { mode: 0o600 });
    return token.trim();
  }
}
