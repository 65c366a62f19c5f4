import { describeSettings, type Description } from '../settings-reference.ts';
import { REMOVED } from './removed.ts';
import { SHARED_SETTINGS, type ChartRow } from './rows.ts';
import { SERVICE_VALUES } from './service-values.ts';
import { isGroup, type Schema, type Value, type Values } from './value.ts';
import { VALUES } from './values.ts';

const SECRET_DOC = 'Where this secret comes from, when not by its usual key from the usual Secret.';
/** The chart decides these. */
const OF_THE_CHART: readonly string[] = [
  'HOST',
  'PORT',
  'AUTH_PORT',
  'METRICS_PORT',
  'SHUTDOWN_DELAY_MS',
  'SHUTDOWN_GRACE_MS',
  'STREAM_REPLICAS',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  ...Object.keys(SHARED_SETTINGS),
];

/** The text of values.schema.json. Each value has a sentence, and no unknown value is accepted. */
export async function valuesSchema(rows: readonly ChartRow[]): Promise<string> {
  const services = await Promise.all(rows.map(async (row) => [row.name, await serviceSchema(row)] as const));
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the Workspace Task Service',
    type: 'object',
    additionalProperties: false,
    properties: {
      ...propertiesOf(VALUES),
      // The chart that this one is a part of has more of them.
      global: { ...schemaOf(VALUES['global'] as Value), additionalProperties: true },
      defaults: {
        description: 'What holds for every service.',
        ...objectOf(mapValues(SERVICE_VALUES, (_, name) => ({ $ref: `#/definitions/${name}` }))),
      },
      services: { description: 'What differs for one service.', ...objectOf(Object.fromEntries(services)) },
      ...Object.fromEntries(
        Object.entries(REMOVED).map(([name, use]) => [name, { description: `Not a value: ${use}` }]),
      ),
    },
    definitions: propertiesOf(SERVICE_VALUES),
  };
  return `${JSON.stringify(schema, null, 1)}\n`;
}

async function serviceSchema({ name, database, natsPasswordKey, secrets }: ChartRow): Promise<Schema> {
  const passwords = { PGPASSWORD: database !== null, NATS_PASSWORD: natsPasswordKey !== null };
  const references = [
    ...secrets.map(({ variable }) => variable),
    ...Object.entries(passwords).flatMap(([variable, isUsed]) => (isUsed ? [variable] : [])),
  ];
  const own = (await describeSettings(name)).settings.filter(
    ({ variable, secret }) =>
      !secret &&
      !OF_THE_CHART.includes(variable) &&
      !references.includes(variable) &&
      !variable.endsWith('_SERVICE_URL'),
  );
  return {
    description: `What differs for ${name}.`,
    ...objectOf({
      ...mapValues(SERVICE_VALUES, (_, key) => ({ $ref: `#/definitions/${key}` })),
      settings: {
        description: 'Settings of the service; infra/settings.md has all of them.',
        ...objectOf(Object.fromEntries(own.map((setting) => [setting.variable, settingSchema(setting)]))),
      },
      secrets: {
        description: SECRET_DOC,
        ...objectOf(Object.fromEntries(references.map((variable) => [variable, reference(variable)]))),
      },
    }),
  };
}

const reference = (variable: string): Schema => ({
  description: `Where ${variable} comes from.`,
  ...objectOf({
    existingSecret: { type: 'string', description: 'The Secret.' },
    key: { type: 'string', description: 'The key in it.' },
  }),
});

/** Values that YAML turns into another type are accepted: on, 5000, lists and objects. */
function settingSchema({ kind, doc }: Description): Schema {
  return { description: doc, ...typeOf(kind) };
}

function typeOf(kind: string): Schema {
  if (kind === 'on or off') return { enum: ['on', 'off', true, false] };
  if (kind.includes(' | ')) return { enum: kind.split(' | ') };
  if (['whole number', 'milliseconds', 'port'].includes(kind))
    return { type: ['integer', 'string'], pattern: '^[0-9]+$' };
  if (kind === 'JSON') return { type: ['string', 'object', 'array'] };
  if (kind.endsWith('comma-separated')) return { type: ['string', 'array'], items: { type: 'string' } };
  return { type: 'string' };
}

function propertiesOf(values: Values): Readonly<Record<string, Schema>> {
  return mapValues(values, schemaOf);
}

function schemaOf(value: Value): Schema {
  if (isGroup(value)) return { description: value.doc, ...objectOf(propertiesOf(value.values)) };
  return { description: value.doc, ...value.schema };
}

function objectOf(properties: Readonly<Record<string, Schema>>): Schema {
  return { type: 'object', additionalProperties: false, properties };
}

function mapValues<V, R>(
  values: Readonly<Record<string, V>>,
  map: (value: V, name: string) => R,
): Readonly<Record<string, R>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value, name)]));
}
