import type { Environment } from '../config/settings.ts';
import type { ServiceDefinition } from '../life/service.ts';
import type { ServiceMigrations } from '../migrate/recorded.ts';
import { commandOf, USAGE } from './commands.ts';

/** A service as its `main.ts` describes it. */
interface Program<C> {
  /** Loads the service, which takes half a second of a processor, so a check of its health does not. */
  readonly service: () => Promise<ServiceDefinition<C>>;
  /** Left out by a service without a schema of its own. */
  readonly migrations?: ServiceMigrations;
}

/**
 * The whole of a service's `main.ts`: does what the arguments say, without any it serves. Everything is loaded when it is needed, knex
 * by migrations alone. Exit codes: 0 done, 1 a sentence says why not, 2 no such arguments or not for this service; those of `serve`.
 */
export async function run<C>(program: Program<C>): Promise<void> {
  const { env, argv } = process;
  const command = commandOf(argv.slice(2));
  if (command === null) return refuse(`There are no arguments "${argv.slice(2).join(' ')}". ${USAGE}`);
  if (command === 'serve') {
    const { serve } = await import('../life/serve.ts');
    return serve(await program.service(), env, program.migrations);
  }
  try {
    await runCommand(command, program, env);
  } catch (failure) {
    const { describeFailure } = await import('../life/describe-failure.ts');
    process.stderr.write(`${describeFailure(failure)}\n`);
    process.exitCode = 1;
  }
}

async function runCommand<C>(
  command: Exclude<ReturnType<typeof commandOf>, null | 'serve'>,
  { service, migrations }: Program<C>,
  env: Environment,
): Promise<void> {
  switch (command) {
    case 'live':
    case 'ready': {
      const { healthcheck } = await import('./healthcheck.ts');
      return healthcheck(command, env);
    }
    case 'version':
    case 'settings':
    case 'check-config': {
      const print = await import('../life/print.ts');
      const definition = await service();
      if (command === 'version') return print.printVersion(definition, env);
      return command === 'settings' ? print.printSettings(definition) : print.checkConfig(definition, env);
    }
    case 'migrate':
    case 'check-schema':
    case 'plan-migration': {
      if (migrations === undefined) return refuse('This service has no schema of its own, so it has no migrations.');
      const schema = await import('../migrate/migrate-service.ts');
      if (command === 'migrate') return schema.migrateService(migrations, env);
      return command === 'check-schema' ? schema.checkSchema(migrations, env) : schema.planMigration(migrations, env);
    }
  }
}

function refuse(sentence: string): void {
  process.stderr.write(`${sentence}\n`);
  process.exitCode = 2;
}
