import { describeError } from '../observe/logger.ts';
import type { ServiceMigrations } from '../migrate/recorded.ts';
import { scrub } from '../observe/scrub.ts';
import { describeFailure } from './describe-failure.ts';
import type { Environment } from '../config/settings.ts';
import { startService, type RunningService, type ServiceDefinition } from './service.ts';
import { releaseStartMemory } from './start-memory.ts';

/** After the grace period, closing resources may take this long before the process exits anyway. */
const CLOSE_MS = 5_000;
/** Writing the last lines of the log may take this long, because their reader may have stopped. */
const FLUSH_MS = 500;

/**
 * Starts a service, and stops it on SIGTERM, SIGINT, or when the supervisor that started it is gone (WTS_SUPERVISED=1). Exit codes:
 * 0 stopped by a signal, 1 could not start or a bug, 130 a second signal.
 */
export async function serve<C>(
  definition: ServiceDefinition<C>,
  env: Environment,
  migrations?: ServiceMigrations,
): Promise<void> {
  exitOnBugs(definition.name);
  let running: RunningService;
  try {
    running = await startService(definition, env, migrations && { migrations });
  } catch (failure) {
    process.stderr.write(`${definition.name} did not start. ${describeFailure(failure)}\n`);
    process.exitCode = 1;
    // Resources are closed by now; a remaining handle must not keep the process running.
    setTimeout(() => process.exit(1), CLOSE_MS).unref();
    return;
  }
  stopOnSignal(running, env);
  process.send?.({ listening: running.url });
  releaseStartMemory();
}

function stopOnSignal(running: RunningService, env: Environment): void {
  let isStopping = false;
  const stop = (reason: string): void => {
    if (isStopping) return exit(running, 130);
    isStopping = true;
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
  // A supervised service must not keep its port when its supervisor was killed.
  process.once('disconnect', () => stop('the supervisor is gone'));
  if (!process.connected) stop('the supervisor is gone');
}

function exit(running: RunningService, code: number): void {
  setTimeout(() => process.exit(code), FLUSH_MS).unref();
  running.log.flush(() => process.exit(code));
}

/**
 * After an uncaught error the state of the process is unknown, so it logs the error and exits; its supervisor starts it again.
 * Buffered lines of the service's own log are written by its exit hook.
 */
function exitOnBugs(name: string): void {
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
