import { cell, describeSettings } from '../settings-reference.ts';
import type { ChartRow } from './rows.ts';
import { SERVICE_VALUES } from './service-values.ts';
import { isGroup, type Values } from './value.ts';
import { VALUES } from './values.ts';

/** The text of values.md: every value with its default, and where secrets come from. */
export async function valuesPage(rows: readonly ChartRow[]): Promise<string> {
  const settings = await Promise.all(rows.map(({ name }) => describeSettings(name)));
  const secrets = rows.flatMap(({ name, secrets: own }) => own.map((secret) => ({ name, ...secret })));
  const keys = Map.groupBy(secrets, ({ key }) => key);
  const docOf = (service = '', variable = ''): string =>
    settings.find(({ name }) => name === service)?.settings.find((one) => one.variable === variable)?.doc ?? '';
  return `# Values of the chart

Made by \`npm run settings\`. \`values.schema.json\` has the same sentences, for editors, and refuses what is not here.

${table('value', VALUES, '')}
## For each service

Under \`defaults\` for all services, under \`services.<name>\` for one of ${rows.map(({ name }) => name).join(', ')}; there are two more:
\`services.<name>.settings\`, the settings of [settings.md](../settings.md) that the chart does not decide (numbers, on and off, lists and objects may be
written as such), and \`services.<name>.secrets\`, by the name of a setting: \`{existingSecret, key}\`.

${table('value', SERVICE_VALUES, '')}
## Keys of the Secret

Those that are not required may be missing. A value that names one in \`services.<name>.secrets\` makes it required. With \`database.host\`
the passwords of roles are \`SYNC_PGPASSWORD\` and so on instead of URLs, with \`nats.servers\` those of users \`NATS_PASSWORD_SYNC\` and so on.

| key | required | for |
|---|---|---|
${[...keys]
  .map(
    ([key, [first]]) =>
      `| \`${key}\` | ${first?.required ? 'yes' : ''} | ${cell(sentenceOf(docOf(first?.name, first?.variable)))} |`,
  )
  .join('\n')}
`;
}

function table(title: string, values: Values, prefix: string): string {
  return `| ${title} | default | meaning |\n|---|---|---|\n${rowsOf(values, prefix).join('\n')}\n`;
}

function rowsOf(values: Values, prefix: string): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const path = `${prefix}${name}`;
    if (isGroup(value)) return [`| **${path}** | | ${cell(value.doc)} |`, ...rowsOf(value.values, `${path}.`)];
    return [`| \`${path}\` | \`${cell(JSON.stringify(value.default))}\` | ${cell(value.doc)} |`];
  });
}

/** The first one. */
function sentenceOf(doc: string): string {
  return /^.*?\.(?= |$)/.exec(doc)?.[0] ?? doc;
}
