import { buildSettings, serviceSettings, type ServiceConfig } from '../config/service-settings.ts';
import { describeSettings, parseSettings, type Environment } from '../config/settings.ts';
import { buildOf } from '../config/build.ts';
import { tokenKeyOf, type ServiceDefinition } from './service.ts';

export function printSettings<C>({ name, settings, reads }: ServiceDefinition<C>): void {
  process.stdout.write(
    `${JSON.stringify({ name, settings: describeSettings({ ...serviceSettings, ...settings }), reads })}\n`,
  );
}

export function printVersion<C>({ name }: ServiceDefinition<C>, env: Environment): void {
  const { version, commit } = buildOf(parseSettings(buildSettings, env));
  process.stdout.write(`${name} ${version} (${commit})\n`);
}

/** Throws a ConfigError with every fault of the environment with which this service would not start. */
export function checkConfig<C>({ name, settings }: ServiceDefinition<C>, env: Environment): void {
  tokenKeyOf(name, parseSettings({ ...serviceSettings, ...settings }, env) as C & ServiceConfig);
  process.stdout.write('ok\n');
}
