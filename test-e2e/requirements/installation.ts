import type { Rule } from './rule.ts';

/** How the service is installed and upgraded. */
export const installation: readonly Rule[] = [
  {
    id: 'installation.arguments',
    source: 'Design 12',
    text: 'The program of a service checks its settings, asks for its own health, migrates its schema, checks and plans that, and prints its version, by arguments. Other arguments are a sentence and exit code 2.',
    home: 'packages/service-kit/src/main/commands.ts',
  },
  {
    id: 'installation.rollback',
    source: 'Design 12',
    text: 'An older version accepts a schema that a newer one migrated, and its migration changes nothing there.',
    home: 'packages/service-kit/src/migrate/migrate.ts',
  },
  {
    id: 'installation.images.no-secret',
    source: 'Design 12, 14',
    text: 'An image with something that has the shape of a key or a token, in any of its layers or in its configuration, is refused.',
    home: 'infra/images/src/find-secret.ts',
  },
];
