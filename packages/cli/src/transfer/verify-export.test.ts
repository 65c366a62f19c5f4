import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scratch } from '../../test/scratch.ts';
import { MANIFEST, manifestText, readManifest } from './manifest.ts';
import { checkFiles, verifyExport } from './verify-export.ts';

const PROGRESS = { stage: () => {}, advance: () => {}, note: () => {} };
const { signal } = new AbortController();
const TIME = '2026-01-01T00:00:00.000Z';

type Files = Readonly<Record<string, readonly object[]>>;

const task = (id: string, fields: object = {}): object => ({ __class: 'Task', id, createdAt: TIME, ...fields });

/** A folder with an export of these records. */
function exported(files: Files): string {
  const folder = scratch('verify');
  const listed = Object.entries(files).map(([model, records]) => {
    const text = records.map((record) => `${JSON.stringify(record)}\n`).join('');
    writeFileSync(join(folder, `${model}.ndjson`), text);
    const sha256 = createHash('sha256').update(text).digest('hex');
    return {
      name: `${model}.ndjson`,
      model,
      archived: 0,
      records: records.length,
      bytes: Buffer.byteLength(text),
      sha256,
    };
  });
  const workspace = { id: 'w', urlKey: 'acme', name: 'Acme', archivedAt: null };
  const people = [{ id: 'ana', name: 'Ana', email: null, role: null }];
  const facts = { exportedAt: TIME, exportedBy: 'ana', server: 'http://x', workspace, position: '7', epoch: 'e' };
  writeFileSync(join(folder, MANIFEST), manifestText({ ...facts, files: listed, people, notIncluded: [] }));
  return folder;
}

const WHOLE: Files = {
  Label: [{ __class: 'Label', id: 'l', createdAt: TIME }],
  Task: [task('a', { labelIds: ['l'], creatorId: 'ana' }), task('b', { labelIds: [] })],
  Comment: [{ __class: 'Comment', id: 'c', createdAt: TIME, taskId: 'b', parentId: null, authorId: 'ana' }],
};

const findingsIn = async (files: Files): Promise<readonly string[]> => {
  const folder = exported(files);
  return verifyExport({ folder, manifest: (await readManifest(folder)).manifest, progress: PROGRESS, signal });
};

const refusedBecause = async (change: (folder: string) => void, reason: RegExp): Promise<void> => {
  const folder = exported(WHOLE);
  change(folder);
  await assert.rejects(async () => checkFiles(folder, (await readManifest(folder)).manifest, signal), reason);
};

describe('an export is verified:', () => {
  it('a whole one has no findings', async () => {
    assert.deepEqual(await findingsIn(WHOLE), []);
  });

  it('half a file is refused', () =>
    refusedBecause((folder) => truncateSync(join(folder, 'Task.ndjson'), 40), /Task\.ndjson has 40 bytes instead of/));

  it('a line that was changed is refused', () =>
    refusedBecause((folder) => {
      const path = join(folder, 'Task.ndjson');
      writeFileSync(path, readFileSync(path, 'utf8').replace('"id":"a"', '"id":"z"'));
    }, /Task\.ndjson was changed after the export/));

  it('a missing file is refused', () =>
    refusedBecause((folder) => rmSync(join(folder, 'Label.ndjson')), /Label\.ndjson is missing/));

  it('a manifest that names a file outside the folder is refused', () =>
    refusedBecause((folder) => {
      const path = join(folder, MANIFEST);
      writeFileSync(path, readFileSync(path, 'utf8').replace('Label.ndjson', '../Label.ndjson'));
    }, /names a file that no export has/));

  it('another format version is refused', () =>
    refusedBecause((folder) => {
      const path = join(folder, MANIFEST);
      writeFileSync(path, readFileSync(path, 'utf8').replace('"version": 1', '"version": 2'));
    }, /format version 2; this version of wts reads 1/));

  it('half a manifest, none, and none yet are each refused in one sentence', async () => {
    await refusedBecause((folder) => truncateSync(join(folder, MANIFEST), 40), /manifest\.json is not whole JSON/);
    await refusedBecause((folder) => rmSync(join(folder, MANIFEST)), /holds no export: it has no manifest\.json/);
    await refusedBecause((folder) => {
      rmSync(join(folder, MANIFEST));
      appendFileSync(join(folder, '.partial'), '');
    }, /The export in .* is incomplete/);
    await assert.rejects(readManifest(join(exported({}), 'none')), /There is no folder/);
  });

  it('what a record refers to and is not there, and what is there twice, is named', async () => {
    const findings = await findingsIn({
      Task: [task('a', { labelIds: ['l'], assigneeId: 'bo' }), task('b', { projectId: 'p' }), task('b')],
    });
    assert.deepEqual(findings, [
      'Task a refers to a person bo who is not in the manifest',
      'Task a refers to Label l, which is not in the export',
      'Task b refers to Project p, which is not in the export',
      'Task b is in the export twice',
    ]);
  });
});
