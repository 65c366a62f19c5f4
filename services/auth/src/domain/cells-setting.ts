import { Fault, isHttpUrl, SHARDS_MAX } from '@wts/contracts';

/** A cell, as the setting CELLS has it: its number, its public address, and its services as this service reaches them. */
export interface CellSetting {
  readonly shard: number;
  readonly baseUrl: string;
  readonly syncUrls: readonly string[];
  readonly workspaceUrls: readonly string[];
  readonly dispatcherUrls: readonly string[];
  /** Of one cluster. */
  readonly natsUrls: readonly string[];
}

/** Throws `unavailable` for a cell that CELLS does not name. */
export function cellAt<C extends { readonly shard: number }>(cells: readonly C[], shard: number): C {
  const cell = cells.find((one) => one.shard === shard);
  if (cell === undefined) throw new Fault('unavailable', { cause: new Error(`CELLS has no cell ${shard}`) });
  return cell;
}

const KEYS = ['shard', 'baseUrl', 'syncUrls', 'workspaceUrls', 'dispatcherUrls', 'natsUrl'] as const;

/** Reads the setting CELLS. Throws an Error with its fault, which shows no address of NATS, because that has a password. */
export function parseCells(text: string): readonly CellSetting[] {
  const given: unknown = JSON.parse(text);
  if (!Array.isArray(given) || given.length === 0) throw new Error('it must be a list of cells');
  const cells = given.map(readCell).toSorted((one, other) => one.shard - other.shard);
  for (const key of ['shard', 'baseUrl'] as const) {
    const values = cells.map((cell) => String(cell[key]));
    const twice = values.find((value, at) => values.indexOf(value) !== at);
    if (twice !== undefined) throw new Error(`two cells have the ${key} ${twice}`);
  }
  if (cells[0]?.shard !== 0) throw new Error('there must be a cell 0, in which new people are created');
  return cells;
}

function readCell(value: unknown): CellSetting {
  if (typeof value !== 'object' || value === null) throw new Error('each cell must be an object');
  const given = value as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(given).find((key) => !(KEYS as readonly string[]).includes(key));
  if (unknown !== undefined) throw new Error(`${unknown} is not one of ${KEYS.join(', ')}`);
  const { shard, baseUrl, natsUrl } = given;
  if (typeof shard !== 'number' || !Number.isInteger(shard) || shard < 0 || shard >= SHARDS_MAX)
    throw new Error(`shard must be a whole number from 0 to ${SHARDS_MAX - 1}`);
  if (!isAddress(baseUrl)) throw new Error(`baseUrl of cell ${shard} must be a URL that starts with http`);
  const natsUrls = typeof natsUrl === 'string' ? natsUrl.split(',').map((url) => url.trim()) : [];
  if (natsUrls.length === 0 || !natsUrls.every((url) => /^(?:nats|tls):\/\/./.test(url)))
    throw new Error(`natsUrl of cell ${shard} must have URLs that start with nats:// or tls://`);
  const urls = (key: 'syncUrls' | 'workspaceUrls' | 'dispatcherUrls'): readonly string[] => {
    const listed = given[key];
    if (Array.isArray(listed) && listed.length > 0 && listed.every(isAddress)) return listed;
    throw new Error(`${key} of cell ${shard} must be a list of URLs that start with http`);
  };
  return {
    shard,
    baseUrl: baseUrl.replace(/\/$/, ''),
    syncUrls: urls('syncUrls'),
    workspaceUrls: urls('workspaceUrls'),
    dispatcherUrls: urls('dispatcherUrls'),
    natsUrls,
  };
}

function isAddress(value: unknown): value is string {
  return typeof value === 'string' && isHttpUrl(value);
}
