import { LIMITS } from '@wts/contracts';
import { ConfigError } from '../config/settings.ts';
import { createLogger } from '../observe/logger.ts';
import type { RunningService, ServiceDefinition } from './service.ts';
import { startService } from './service.ts';

/** Past the grace, closing what a service opened gets this long before the process ends anyway. */
const CLOSE_MS = 5_000;

/**
 * The whole of a service's `main.ts`: reads the environment, starts, and stops on SIGTERM, SIGINT, or when the supervisor
 * that started it is gone. Exit codes: 0 stopped as asked, 1 could not start or met a bug, 130 asked twice.
 */
export async function run<C>(definition: ServiceDefinition<C>): Promise<void> {
  let running: RunningService;
  watchForBugs(definition.name);
  try {
    running = await startService(definition, process.env);
  } catch (failure) {
    const text = failure instanceof Error && isForOperator(failure) ? failure.message : describe(failure);
    process.stderr.write(`${definition.name} did not start. ${text}\n`);
    process.exitCode = 1;
    // What was opened before the failure is closed; a handle that lingers must not keep a dead service alive.
    setTimeout(() => process.exit(1), CLOSE_MS).unref();
    return;
  }
  stopWhenAsked(running);
  process.send?.({ listening: running.url });
}

function isForOperator(failure: Error): boolean {
  return failure instanceof ConfigError || failure.cause !== undefined;
}

function describe(failure: unknown): string {
  return failure instanceof Error ? (failure.stack ?? failure.message) : String(failure);
}

function stopWhenAsked(running: RunningService): void {
  let asked = false;
  const stop = (reason: string): void => {
    if (asked) {
      running.log.flush();
      process.exit(130);
    }
    asked = true;
    running.log.info({ reason }, 'stopping');
    const grace = Number(process.env.SHUTDOWN_GRACE_MS) || LIMITS.drainMs;
    const delay = Number(process.env.SHUTDOWN_DELAY_MS) || 0;
    setTimeout(
      () => {
        running.log.error('did not stop in time');
        exit(running, 1);
      },
      grace + delay + CLOSE_MS,
    ).unref();
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
  // A supervised service whose supervisor was killed must not live on with its port.
  if (process.env.WTS_SUPERVISED === '1') process.on('disconnect', () => stop('supervisor gone'));
}

function exit(running: RunningService, code: number): void {
  running.log.flush(() => process.exit(code));
}

/** After a bug nobody caught, the state of the process is unknown: say it and end; whoever supervises starts it again. */
function watchForBugs(name: string): void {
  process.on('uncaughtException', (err) => {
    const line = createLogger({
      name,
      level: 'fatal',
      destination: { write: (text) => void process.stdout.write(text) },
    });
    line.fatal({ err }, 'a bug ended this process');
    process.exit(1);
  });
}
