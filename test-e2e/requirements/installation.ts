import type { Rows } from './rule.ts';

/** How the service is installed and upgraded. */
// prettier-ignore
export const installation: Rows = [
  ['installation.arguments', 'The program of a service checks its settings, asks for its own health, migrates its schema, checks and plans that, and prints its version, by arguments. Other arguments are a sentence and exit code 2.', 'packages/service-kit/src/main/commands.ts', 'Design 12'],
  ['installation.rollback', 'An older version accepts a schema that a newer one migrated, and its migration changes nothing there.', 'packages/service-kit/src/migrate/migrate.ts', 'Design 12'],
  ['installation.images.no-secret', 'An image with something that has the shape of a key or a token, in any of its layers or in its configuration, is refused.', 'infra/images/src/find-secret.ts', 'Design 12, 14'],
];
