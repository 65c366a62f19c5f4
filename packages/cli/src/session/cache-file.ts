import { createHash } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder } from '../make-folder.ts';
import type { Io } from '../io.ts';
import { readJson } from './read-json.ts';

interface Kept<T> {
  readonly atMs: number;
  readonly value: T;
}

/**
 * What is worth keeping for a while. The name of the file does not show what it is of, such as a credential. Without a folder, and
 * where it cannot be written, nothing is kept, and everything works all the same.
 */
export class CacheFile<T> {
  readonly #path: string | null;
  readonly #now: Io['now'];

  constructor({ env, now }: Pick<Io, 'env' | 'now'>, name: string, of: readonly string[]) {
    const [xdg, home] = [env['XDG_CACHE_HOME'] ?? '', env['HOME'] ?? ''];
    const folder = xdg === '' ? home && join(home, '.cache') : xdg;
    const digest = createHash('sha256').update(of.join('\n')).digest('hex').slice(0, 24);
    this.#path = folder === '' ? null : join(folder, 'wts', `${name}-${digest}.json`);
    this.#now = now;
  }

  get isThere(): boolean {
    return this.#path !== null;
  }

  async read(): Promise<{ readonly ageMs: number; readonly value: T } | null> {
    if (this.#path === null) return null;
    try {
      const kept = await readJson<Kept<T>>(this.#path);
      return kept && { ageMs: this.#now().getTime() - kept.atMs, value: kept.value };
    } catch {
      return null;
    }
  }

  async write(value: T): Promise<void> {
    if (this.#path === null) return;
    const part = `${this.#path}.${process.pid}.part`;
    const kept: Kept<T> = { atMs: this.#now().getTime(), value };
    try {
      await makeFolder(dirname(this.#path), 0o700);
      await writeFile(part, JSON.stringify(kept), { mode: 0o600 });
      await rename(part, this.#path);
    } catch {
      // The folder may be read-only.
    }
  }
}
