import type { Call } from '../call.ts';
import { CliFault, usageFault } from '../fault.ts';
import { importWorkspace, sumOf, type ImportReport } from '../transfer/import-workspace.ts';
import { readManifest } from '../transfer/manifest.ts';
import { parsePeopleMap, type PeopleMap } from '../transfer/map-people.ts';
import { SET_BY_SERVER } from '../transfer/target-record.ts';
import { readTextFile } from './texts.ts';
import { connectorOf, countsText, folderOf, progressOf } from './transfer.ts';
import { slugOf } from './words.ts';

export async function importFrom(call: Call): Promise<void> {
  const { words, options, output, signal } = call;
  const [folder] = words;
  if (folder === undefined)
    throw usageFault('Name the folder of an export.', 'Such as: wts import acme-export --new "Acme"');
  // Before anything that needs a key, because a wrong folder is found without one.
  await readManifest(folderOf(call, folder));
  const target = targetOf(call);
  const fileOf = (option: string): string | null => {
    const given = options.text(option);
    return given === undefined ? null : folderOf(call, given);
  };
  const people = await peopleMap(call);
  const isDryRun = options.flag('dryRun');
  if (options.has('since') && !('into' in target))
    throw usageFault('--since needs --into: the workspace that has the earlier export.');
  const connect = await connectorOf(call);
  const { api, viewer } = await call.session();
  using progress = progressOf(call);
  const report = await importWorkspace({
    connect,
    api,
    importer: async () => {
      const { id: userId, name, email } = await viewer();
      return { userId, name, email };
    },
    folder: folderOf(call, folder),
    target,
    people,
    keepsIds: options.flag('keepIds'),
    since: fileOf('since'),
    keepsNumbers: options.flag('keepNumbers'),
    takesSettings: options.flag('settings'),
    isDryRun,
    checkpoint: fileOf('checkpoint'),
    progress,
    signal,
  });
  progress[Symbol.dispose]();
  await showNotes(call, report);
  await show(call, report, isDryRun);
  const { refusedTotal, differencesTotal, missing } = report.comparison;
  const left = isDryRun ? 0 : sumOf(missing);
  if (isDryRun || refusedTotal + differencesTotal + left === 0) return;
  await output.note(report.refusedPath === null ? '' : `Each refusal with its reason: ${report.refusedPath}`);
  throw new CliFault(
    'partly',
    `Not all of the export is in the target: ${refusedTotal} refused, ${differencesTotal} different, ${left} missing.`,
    { hint: 'The same command tries again what is not there.' },
  );
}

function targetOf({ options }: Call): { readonly into: string } | { readonly name: string; readonly urlKey: string } {
  const [into, name] = [options.text('into'), options.text('new')];
  if ((into === undefined) === (name === undefined))
    throw usageFault('Name the target: either --into a workspace, or --new with a name.');
  if (into !== undefined) return { into };
  const urlKey = options.text('key') ?? slugOf(name ?? '').slice(0, 50);
  if (urlKey.length < 3) throw usageFault('The new workspace needs a --key of 3 letters or more.');
  return { name: name ?? '', urlKey };
}

async function peopleMap(call: Call): Promise<PeopleMap> {
  const given = call.options.text('people');
  return given === undefined ? {} : parsePeopleMap(await readTextFile(folderOf(call, given), given));
}

async function showNotes({ output }: Call, { people, notes, notIncluded, comparison }: ImportReport): Promise<void> {
  for (const note of [...notes, ...notIncluded.map((left) => `Not in the export: ${left}`)])
    await output.note(`${note}.`);
  for (const { person, to, by } of people) {
    if (by === 'email') continue;
    const instead = to === null ? 'no person' : to.name;
    const why = by === 'map' ? 'by the map of people' : 'who imports, because no person in the target has the address';
    await output.note(`${person.name} (${person.email ?? person.id}) is ${instead}, ${why}.`);
  }
  for (const { model, id, fields } of comparison.differences)
    await output.note(`${model} ${id} is there with another ${fields.join(', ')}.`);
}

async function show({ output }: Call, report: ImportReport, isDryRun: boolean): Promise<void> {
  const { target, people, comparison, planned } = report;
  const { equal, missing, refusedTotal, differencesTotal, sameNumbers, sha256 } = comparison;
  const mapped = (by: string): number => people.filter((one) => one.by === by).length;
  const tasks = equal['Task'] ?? 0;
  const numbers = tasks === 0 ? [] : [{ title: 'Same numbers', value: `${sameNumbers} of ${tasks} tasks` }];
  const fields = Object.entries(SET_BY_SERVER).map(([model, names]) => `${model}: ${names.join(', ')}`);
  await output.record({ dryRun: isDryRun, setByServer: SET_BY_SERVER, ...report }, target?.id ?? '', [
    {
      title: 'Target',
      isHeading: true,
      value: target === null ? 'A new workspace' : `${target.name} (${target.urlKey})`,
    },
    ...(planned === null ? [] : [{ title: 'Since then', value: plannedText(planned) }]),
    { title: isDryRun ? 'There already' : 'Imported', value: countsText(equal) },
    { title: isDryRun ? 'Would be made' : 'Missing', value: countsText(missing) },
    { title: isDryRun ? 'Would be refused' : 'Refused', value: isDryRun ? differencesTotal : refusedTotal },
    ...(isDryRun ? [] : [{ title: 'Different', value: differencesTotal }, ...numbers]),
    {
      title: 'People',
      value: `${mapped('email')} by e-mail, ${mapped('map')} by the map, ${mapped('importer')} as you`,
    },
    ...(isDryRun
      ? []
      : [
          {
            title: 'SHA-256',
            value: `${sha256.target} (${sha256.target === sha256.export ? 'as the export' : 'not as the export'})`,
          },
        ]),
    { title: 'Set by the server', value: fields.join('\n'), isText: true },
  ]);
}

/** `2 created, 1 deleted`. */
function plannedText(planned: NonNullable<ImportReport['planned']>): string {
  const words = { INSERT: 'created', UPDATE: 'changed', DELETE: 'deleted', ARCHIVE: 'archived', UNARCHIVE: 'restored' };
  const texts = Object.entries(planned).map(([action, count]) => `${count} ${words[action as keyof typeof words]}`);
  return texts.length === 0 ? 'no change' : texts.join(', ');
}
