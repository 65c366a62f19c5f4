import { CALLS } from '@wts/contracts';
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join, parse } from 'node:path';
// @boundaries-ignore: see src/services.ts.
import { GIVEN_SETTINGS, OPTIONAL_EVERYWHERE } from '../../services.ts';
import { generatedFiles } from '../src/generated-files.ts';
import { ROOT } from '../src/layout.ts';
import { CONNECTIONS_MAX } from '../src/servers/postgres.ts';
import { addressedBy, SERVICES, urlVariable } from '../src/services.ts';
import { describeSettings } from '../src/settings-reference.ts';

/** These have no row in config.ts, because its library reads them. */
const READ_BY_OPENTELEMETRY: readonly string[] = ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_RESOURCE_ATTRIBUTES'];

/** Settings that the stack gives by a rule: ports, the role's URL, the addresses of called services, keys of internal tokens. */
function isGivenByRule(variable: string, name: keyof typeof CALLS): boolean {
  const byRule = ['HOST', 'PORT', 'METRICS_PORT', 'DATABASE_URL', 'INTERNAL_TOKEN_PUBLIC_KEYS', 'INTERNAL_TOKEN_KEY'];
  return byRule.includes(variable) || addressedBy(name).map(urlVariable).includes(variable);
}

interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly additionalProperties?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly definitions?: Readonly<Record<string, Schema>>;
}

describe('what npm run settings writes', () => {
  it('lists every setting of every service, and every user of NATS with its permissions and password', async () => {
    for (const [file, text] of await generatedFiles())
      assert.equal(await readFile(join(ROOT, file), 'utf8'), text, `to update ${file}: npm run settings`);
  });
});

describe('the schema of the values of the chart', () => {
  it('has a sentence for each value, and names all that an object may have', async () => {
    const schema = JSON.parse(await readFile(join(ROOT, 'infra/chart/values.schema.json'), 'utf8')) as Schema;
    const refuse = ({ properties = {}, ...object }: Schema, path: string): void => {
      if (path !== 'values.global') assert.equal(object.additionalProperties, false, path);
      for (const [name, value] of Object.entries(properties)) {
        if (value.$ref === undefined) assert.match(value.description ?? '', /\.$|`\)$/, `${path}.${name}`);
        if (value.properties !== undefined) refuse(value, `${path}.${name}`);
      }
    };
    refuse(schema, 'values');
    refuse({ properties: schema.definitions ?? {}, additionalProperties: false }, 'definitions');
  });
});

describe('the rows of the services', () => {
  it('name settings that the service has, say which are secret, and leave out none that it needs', async () => {
    for (const { name, given, optional = [], database } of SERVICES) {
      const settings = new Map((await describeSettings(name)).settings.map((one) => [one.variable, one]));
      for (const variable of given)
        assert.equal(settings.get(variable)?.secret, GIVEN_SETTINGS[variable].secret, `${name}: ${variable}`);
      const named: readonly string[] = [...given, ...optional, ...OPTIONAL_EVERYWHERE];
      assert.equal(new Set(named).size, named.length, name);
      for (const variable of named)
        assert.ok(settings.has(variable) || READ_BY_OPENTELEMETRY.includes(variable), `${name}: ${variable}`);
      for (const { variable, required } of settings.values())
        if (required) assert.ok(named.includes(variable) || isGivenByRule(variable, name), `${name}: ${variable}`);
      assert.equal(settings.get('DATABASE_POOL_MAX')?.default, database && String(database.connections.pool), name);
    }
  });

  it('say which services read schema sync, and each of these waits for its newest migration [meta.ready.schema]', async () => {
    const files = await readdir(join(ROOT, 'services/sync/src/migrations'));
    const [newest = ''] = files
      .filter((file) => /^\d.*(?<!\.test)\.ts$/.test(file))
      .toSorted()
      .toReversed();
    for (const { name, database } of SERVICES) {
      const { reads } = await describeSettings(name);
      const needed = database?.readsSync ? { schema: 'sync', migration: parse(newest).name } : undefined;
      assert.deepEqual(reads, needed, `${name}: packages/read-model/src/sync-schema.ts`);
    }
  });

  it('are in an order in which migrations can run', () => {
    const before = new Set<string>();
    for (const { name, database } of SERVICES) {
      for (const first of database?.migratesAfter ?? []) assert.ok(before.has(first), `${name} after ${first}`);
      before.add(name);
    }
    assert.deepEqual([...before].toSorted(), Object.keys(CALLS).toSorted());
  });

  it('need no more connections, of two processes of each service, than the included server accepts', () => {
    const all = SERVICES.flatMap(({ database }) => (database === undefined ? [] : [database.connections]));
    const sum = all.reduce((total, { pool, besides }) => total + pool + besides, 0);
    assert.ok(2 * sum <= CONNECTIONS_MAX, `2 x ${sum}`);
  });
});
