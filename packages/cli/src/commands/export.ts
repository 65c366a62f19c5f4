import { randomUUID } from 'node:crypto';
import type { Call } from '../call.ts';
import { CliFault, usageFault } from '../fault.ts';
import { counted } from '../output/counted.ts';
import { exportWorkspace } from '../transfer/export-workspace.ts';
import { readManifest, type Manifest } from '../transfer/manifest.ts';
import { verifyExport } from '../transfer/verify-export.ts';
import { connectorOf, countsText, folderOf, progressOf } from './transfer.ts';

export async function exportTo(call: Call): Promise<void> {
  const { words, options, output, signal } = call;
  const checked = options.text('verify');
  if (checked !== undefined) return verify(call, folderOf(call, checked));
  const to = options.text('to');
  if (to === undefined) throw usageFault('Name a folder for the export.', 'Such as: wts export acme --to acme-export');
  const folder = folderOf(call, to);
  const { api, server, workspace } = await call.session();
  const connect = await connectorOf(call);
  const word = words[0] ?? (await workspace()).id;
  using progress = progressOf(call);
  const common = { api, sync: connect(randomUUID()), server: server.url, folder, progress, signal };
  const manifest = await exportWorkspace({ ...common, workspace: word });
  progress[Symbol.dispose]();
  for (const left of manifest.notIncluded) await output.note(`Not included: ${left}.`);
  if (manifest.workspace.archivedAt !== null)
    await output.note('The workspace is deleted; it was exported as it is now.');
  await show(call, manifest, folder);
}

/** Reads an export from the disk, without any service. */
async function verify(call: Call, folder: string): Promise<void> {
  const { output, signal } = call;
  const { manifest } = await readManifest(folder);
  using progress = progressOf(call);
  const findings = await verifyExport({ folder, manifest, progress, signal });
  progress[Symbol.dispose]();
  for (const finding of findings) await output.warn(finding);
  if (findings.length > 0)
    throw new CliFault('failed', `The export in ${folder} is not whole: ${counted(findings.length, 'finding')}.`, {
      code: 'export_invalid',
    });
  await show(call, manifest, folder);
}

async function show({ output }: Call, manifest: Manifest, folder: string): Promise<void> {
  const { workspace, position, files, people, server } = manifest;
  const records = Object.fromEntries(files.map((file) => [file.model, file.records]));
  await output.record({ folder, ...manifest }, folder, [
    { title: 'Folder', isHeading: true, value: folder },
    { title: 'Workspace', value: workspace.id, shown: `${workspace.name} (${workspace.urlKey}) of ${server}` },
    { title: 'Position', value: position },
    { title: 'Records', value: countsText(records) },
    { title: 'People', value: people.length },
  ]);
}
