import type { Call } from '../call.ts';
import { CliFault, usageFault } from '../fault.ts';
import { pagerOf } from '../output/pager.ts';
import type { View } from '../output/view.ts';
import { configFile } from '../session/config-file.ts';
import { useProfile, useWorkspace } from '../session/profiles.ts';
import { writeProjectFile } from '../session/project-file.ts';
import { readSettings, type Setting } from '../session/settings.ts';

interface SettingRow {
  readonly name: string;
  readonly value: string | null;
  readonly source: string | null;
}

const VIEW: View<SettingRow> = {
  nouns: ['setting', 'settings'],
  id: ({ name }) => name,
  columns: [
    { title: 'SETTING', value: ({ name }) => name },
    { title: 'VALUE', value: ({ value }) => value, isCut: true },
    { title: 'FROM', value: ({ source }) => source, isCut: true },
  ],
};

export async function list(call: Call): Promise<void> {
  await call.output.list(await rowsOf(call), VIEW);
}

export async function get(call: Call): Promise<void> {
  const rows = await rowsOf(call);
  const row = rows.find(({ name }) => name === call.words[0]);
  if (row === undefined)
    throw usageFault(
      `There is no setting ${JSON.stringify(call.words[0])}.`,
      `The settings: ${rows.map(({ name }) => name).join(', ')}`,
    );
  if (row.value === null) throw new CliFault('not-found', `${row.name} is not set.`);
  if (call.output.isJson) await call.output.record(row, row.name, []);
  else await call.output.line([row.value]);
}

async function rowsOf({ io, options }: Call): Promise<SettingRow[]> {
  const settings = await readSettings(io, options);
  const row = (name: string, setting: Setting | null): SettingRow => ({
    name,
    value: setting?.value ?? null,
    source: setting?.source ?? null,
  });
  const env = (names: readonly string[], standard: string | null): SettingRow['value'] =>
    names.map((name) => io.env[name] ?? '').find((value) => value !== '') ?? standard;
  const { token } = settings;
  return [
    row('profile', settings.profile),
    row('url', settings.url),
    row('authUrl', settings.authUrl),
    // The end of a key is enough to know which one it is.
    row('token', token === null ? null : { ...token, value: `…${token.value.slice(-4)}` }),
    row('workspace', settings.workspace),
    {
      name: 'pager',
      value: pagerOf(io),
      source: env(['WTS_PAGER', 'PAGER'], null) === null ? 'default' : 'environment',
    },
    {
      name: 'editor',
      value: env(['WTS_EDITOR', 'VISUAL', 'EDITOR'], 'vi'),
      source: env(['WTS_EDITOR', 'VISUAL', 'EDITOR'], null) === null ? 'default' : 'environment',
    },
    { name: 'file', value: configFile(io), source: 'default' },
  ];
}

export async function set(call: Call): Promise<void> {
  const [name = '', value = ''] = call.words;
  await change(call, name, value);
}

export async function unset(call: Call): Promise<void> {
  await change(call, call.words[0] ?? '', undefined);
}

async function change(call: Call, name: string, value: string | undefined): Promise<void> {
  const { io, options, output } = call;
  const where = options.flag('here')
    ? await writeProjectFile(io, { [name]: value })
    : await changeProfile(call, name, value);
  await output.note(`${value === undefined ? `${name} is not set any more` : `${name} is ${value}`}: ${where}`);
}

async function changeProfile({ io, options }: Call, name: string, value: string | undefined): Promise<string> {
  if (name === 'profile') {
    await useProfile(io, value);
    return configFile(io);
  }
  const { profile } = await readSettings(io, options);
  if (profile === null) throw usageFault('There is no profile to keep it in.', 'Use --here, or wts login.');
  await useWorkspace(io, profile.value, value ?? null);
  return `profile ${profile.value}`;
}
