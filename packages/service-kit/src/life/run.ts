import { serviceSettings } from '../config/service-settings.ts';
import { describeSettings } from '../config/settings.ts';
import { describeError } from '../observe/logger.ts';
import { scrub } from '../observe/scrub.ts';
import type { Environment, RunningService, ServiceDefinition } from './service.ts';
import { startService } from './service.ts';
import { SetupError } from './setup-error.ts';

/** Past the grace, closing what a service opened gets this long before the process ends anyway. */
const CLOSE_MS = 5_000;
/** The last lines of the log get this long to leave, when whoever reads them has stopped. */
const FLUSH_MS = 500;

/**
 * The whole of a service's `main.ts`: reads the environment, starts, and stops on SIGTERM, SIGINT, or when the supervisor
 * that started it is gone (WTS_SUPERVISED=1). Exit codes: 0 stopped as asked, 1 could not start or met a bug, 130 asked
 * twice. With `--settings` it only prints what it can be configured by, as JSON.
 */
export async function run<C>(definition: ServiceDefinition<C>): Promise<void> {
  const { env, argv } = process;
  if (argv.includes('--settings')) return printSettings(definition);
  endOnBugs(definition.name);
  let running: RunningService;
  try {
    running = await startService(definition, env);
  } catch (failure) {
    process.stderr.write(`${definition.name} did not start. ${scrub(describe(failure))}\n`);
    process.exitCode = 1;
    // What was opened before is closed by now; a handle that lingers must not keep a dead service alive.
    setTimeout(() => process.exit(1), CLOSE_MS).unref();
    return;
  }
  stopWhenAsked(running, env);
  process.send?.({ listening: running.url });
}

function printSettings<C>({ name, settings }: ServiceDefinition<C>): void {
  process.stdout.write(
    `${JSON.stringify({ name, settings: describeSettings({ ...serviceSettings, ...settings }) })}\n`,
  );
}

/** A sentence for what an operator can change; everything for what only a programmer can. */
function describe(failure: unknown): string {
  if (failure instanceof SetupError) return failure.message;
  return failure instanceof Error ? (failure.stack ?? failure.message) : String(failure);
}

function stopWhenAsked(running: RunningService, env: Environment): void {
  let isAsked = false;
  const stop = (reason: string): void => {
    if (isAsked) return exit(running, 130);
    isAsked = true;
    running.log.info({ reason }, 'stopping');
    setTimeout(() => {
      running.log.error('did not stop in time');
      exit(running, 1);
    }, running.stopMsMax + CLOSE_MS).unref();
    running.close().then(
      () => exit(running, 0),
      (err: unknown) => {
        running.log.error({ err }, 'could not stop cleanly');
        exit(running, 1);
      },
    );
  };
  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
  if (env.WTS_SUPERVISED !== '1') return;
  // A supervised service whose supervisor was killed must not live on with its port.
  process.once('disconnect', () => stop('the supervisor is gone'));
  if (!process.connected) stop('the supervisor is gone');
}

function exit(running: RunningService, code: number): void {
  setTimeout(() => process.exit(code), FLUSH_MS).unref();
  running.log.flush(() => process.exit(code));
}

/**
 * After a bug nobody caught, the state of the process is unknown: say it and end; whoever supervises starts it again.
 * Lines still waiting in the service's own log are written by its exit hook.
 */
function endOnBugs(name: string): void {
  process.on('uncaughtException', (error) => {
    const line = {
      level: 'fatal',
      time: new Date().toISOString(),
      service: name,
      err: describeError(error),
      msg: 'a bug ended this process',
    };
    process.stdout.write(`${scrub(JSON.stringify(line))}\n`);
    process.exit(1);
  });
}
