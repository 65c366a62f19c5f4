import { open, readFile, rename, writeFile } from 'node:fs/promises';
import { onDisk } from './line-files.ts';
import { CliFault } from '../fault.ts';

const FORMAT = 'wts-import';
const BEGIN_AGAIN = 'Remove it: the import then begins again, and still makes nothing twice.';

/** How far an import is. What was sent after it is sent again, and made once. */
export interface Checkpoint {
  readonly format: typeof FORMAT;
  readonly version: 1;
  /** The SHA-256 of the manifest. */
  readonly export: string;
  readonly workspaceId: string;
  readonly keepsIds: boolean;
  readonly stage: 'insert' | 'archive' | 'check' | 'done';
  /** The file and the bytes of it that are done. */
  readonly file: number;
  readonly offset: number;
  /** How many records of all files are done, for the progress. */
  readonly records: number;
  /** The number of the last task. */
  readonly number: number;
  /** The length of the file with refusals. */
  readonly refusedBytes: number;
  /** The position in the log of the last change. */
  readonly position: string;
  readonly notes: readonly string[];
}

export type CheckpointFacts = Omit<Checkpoint, 'format' | 'version'>;

/** The file with the checkpoint of one import, and the file beside it with the refusals. */
export class CheckpointFile {
  readonly path: string;
  readonly refusedPath: string;
  readonly planPath: string;

  constructor(path: string) {
    this.path = path;
    const name = path.replace(/\.json$/, '');
    this.refusedPath = `${name}.refused.ndjson`;
    this.planPath = `${name}.changes.ndjson`;
  }

  /** Null: there is none, or only one of another export. */
  async read(exportHash: string): Promise<Checkpoint | null> {
    const text = await readFile(this.path, 'utf8').catch((cause: unknown) => {
      const { code, message } = cause as NodeJS.ErrnoException;
      if (code === 'ENOENT') return null;
      throw new CliFault('failed', `${this.path} cannot be read: ${message}.`, { cause });
    });
    if (text === null) return null;
    let parsed: Partial<Checkpoint> | null;
    try {
      parsed = JSON.parse(text) as typeof parsed;
    } catch (cause) {
      throw new CliFault('usage', `${this.path} is no checkpoint of an import.`, { hint: BEGIN_AGAIN, cause });
    }
    if (parsed?.format !== FORMAT || parsed.version !== 1)
      throw new CliFault('usage', `${this.path} is no checkpoint that this version of wts reads.`, {
        hint: BEGIN_AGAIN,
      });
    return parsed.export === exportHash ? (parsed as Checkpoint) : null;
  }

  async write(facts: CheckpointFacts): Promise<void> {
    const text = `${JSON.stringify({ format: FORMAT, version: 1, ...facts } satisfies Checkpoint)}\n`;
    await onDisk(this.path, async () => {
      await writeFile(`${this.path}.new`, text);
      await rename(`${this.path}.new`, this.path);
    });
  }

  /** Adds lines to the refusals behind what the checkpoint has of them, and returns the new length. */
  async refuse(lines: readonly string[], refusedBytes: number): Promise<number> {
    const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
    return await onDisk(this.refusedPath, async () => {
      await using handle = await open(this.refusedPath, 'a');
      await handle.truncate(refusedBytes);
      await handle.writeFile(bytes);
      return refusedBytes + bytes.length;
    });
  }
}
