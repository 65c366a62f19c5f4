/** `npm run listen`: `wts webhook listen` at the system that `npm start` runs, whatever the profiles of the person are. */
import { processIo, run } from '@wts/cli';
import { join } from 'node:path';
import { PATHS, STACK_FILE } from './layout.ts';

const io = processIo(process);
const others = { WTS_TOKEN: undefined, WTS_URL: undefined, WTS_PROFILE: undefined, WTS_WORKSPACE: undefined };
const env = {
  ...io.env,
  ...others,
  WTS_CONFIG_DIR: join(PATHS.webhooks, 'no-profiles'),
  WTS_LOCAL_STACK: STACK_FILE,
  WTS_LOCAL_WEBHOOKS: PATHS.webhooks,
};
process.exitCode = await run(['webhook', 'listen', ...process.argv.slice(2)], { ...io, env });
