/** `npm run wts -- ...`: the command line of this checkout. Where no profile is chosen, it uses the system that `npm start` runs. */
import { processIo, run } from '@wts/cli';
import { PATHS, STACK_FILE } from './layout.ts';

// npm runs every script in the root; files that the person names are in their folder.
process.chdir(process.env['INIT_CWD'] ?? '.');
const io = processIo(process);
const env = { ...io.env, WTS_LOCAL_STACK: STACK_FILE, WTS_LOCAL_WEBHOOKS: PATHS.webhooks };
process.exitCode = await run(process.argv.slice(2), { ...io, env });
