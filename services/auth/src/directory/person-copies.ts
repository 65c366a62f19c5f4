import { servicePrincipal } from '@wts/access';
import { Fault, syncApi, type CopiedRecord } from '@wts/contracts';
import { User } from '@wts/models';
import { eachByItself } from '@wts/service-kit/background';
import { cellAt } from '../domain/cells-setting.ts';
import { onFault } from '../domain/on-fault.ts';
import type { PersonCellStore } from '../store/person-cells.ts';
import type { AskedCell } from './cell-directory.ts';

/*
 * A person has one record in the first cell, and a copy of it in each cell in which they act. Everyone may change theirs in each of these
 * cells. The newest of them is put into the others, so they end equal whatever the order is in which changes are seen, and a cell that is
 * away gets it when it is back.
 */

const LOWEST = '00000000-0000-0000-0000-000000000000';
const principal = servicePrincipal('auth');

export class PersonCopies {
  readonly #cells: readonly AskedCell[];
  readonly #store: PersonCellStore;
  /** The last person of the round of repairs before. */
  #repaired = LOWEST;

  /** The first of the cells has everyone. */
  constructor(cells: readonly AskedCell[], store: PersonCellStore) {
    this.#cells = cells;
    this.#store = store;
  }

  /** Makes sure that a cell has the record of a person, before they act there. */
  async copy(userId: string, shard: number): Promise<void> {
    const cell = cellAt(this.#cells, shard);
    if (cell === this.#cells[0] || (await this.#store.isThere(userId, shard))) return;
    await this.#store.begin([userId], shard);
    const record = await this.#newest(userId);
    if (record === null) throw new Fault('not_found', { message: 'There is no person with this id.' });
    await putPeople(cell, [record]);
    await this.#store.setThere([userId], shard);
  }

  /** People whom another cell has already, with these records. Those who are there stay as they are. */
  async copyAll(records: readonly CopiedRecord[], shard: number): Promise<void> {
    const cell = cellAt(this.#cells, shard);
    if (cell === this.#cells[0]) return;
    const ids = records.map(({ id }) => id);
    const missing = await this.#store.missing(ids, shard);
    if (missing.length === 0) return;
    await this.#store.begin(missing, shard);
    const copied = records.filter(({ id }) => missing.includes(id));
    await putPeople(cell, copied);
    await this.#store.setThere(missing, shard);
  }

  /** Notes whose records changed in the log of a cell. True when it has more of them. */
  async follow(cell: AskedCell): Promise<boolean> {
    const after = await this.#store.positionOf(cell.shard);
    const body = { workspaceId: null, limit: syncApi.MOVE_RECORDS_MAX, ...(after === null ? {} : { after }) };
    const page = await cell.sync
      .call(syncApi.internalReadWorkspaceEntries, { principal, body, idempotent: true })
      .catch(onFault('bootstrap_required', null));
    requireNumber(cell, page?.shard);
    // The log was trimmed meanwhile: the cell was not followed for longer than it keeps its log. What is newest is decided at the next change.
    if (page === null) return this.#forget(cell);
    const changed = [...new Set(page.records.map(({ id }) => id))];
    if (changed.length > 0) await this.#store.setChanged(changed);
    if (page.lastSyncId !== after) await this.#store.setPosition(cell.shard, page.lastSyncId);
    return page.more;
  }

  async #forget(cell: AskedCell): Promise<boolean> {
    const body = { workspaceId: null, limit: 1 };
    const call = { principal, body, idempotent: true };
    const { lastSyncId } = await cell.sync.call(syncApi.internalReadWorkspaceEntries, call);
    await this.#store.setPosition(cell.shard, lastSyncId);
    return true;
  }

  /**
   * Puts the newest record of some people into the cells that have another one. A round goes on after the one before, because people whom it
   * cannot repair, such as those of a cell that is away, would keep all others from their turn.
   */
  async repair(limit: number): Promise<void> {
    const people = await this.#store.behind(this.#repaired, limit);
    this.#repaired = people.length < limit ? LOWEST : (people.at(-1) ?? LOWEST);
    const away = new Set<AskedCell>();
    await eachByItself(people, (userId) => this.#repairOne(userId, away));
  }

  /** A cell that is away is asked once in a round, and stays behind; without the first cell it is not known what is newest. */
  async #repairOne(userId: string, away: Set<AskedCell>): Promise<void> {
    const copies = await this.#store.copiesOf(userId);
    const [home] = this.#cells;
    const records = new Map<AskedCell, CopiedRecord | null>();
    for (const cell of this.#cells) {
      if (cell !== home && !copies.some(({ shard }) => shard === cell.shard)) continue;
      const read = away.has(cell) ? 'away' : await recordOf(cell, userId).catch(unlessAway);
      if (read !== 'away') records.set(cell, read);
      else away.add(cell);
      if (read === 'away' && cell === home) return;
    }
    const newest = newestOf([...records.values()]);
    if (newest === null) return;
    for (const [cell, record] of records) {
      const isEqual = record !== null && JSON.stringify(record.record) === JSON.stringify(newest.record);
      if (!isEqual && (await putPeople(cell, [newest]).catch(unlessAway)) === 'away') continue;
      const copy = copies.find(({ shard }) => shard === cell.shard);
      if (copy !== undefined) await this.#store.setPut(userId, copy);
    }
  }

  /** Of the cells that answer. */
  async #newest(userId: string): Promise<CopiedRecord | null> {
    const [home, ...others] = this.#cells;
    if (home === undefined) return null;
    const first = await recordOf(home, userId).catch(unlessAway);
    if (first !== 'away') return first;
    for (const cell of others) {
      if (!(await this.#store.isThere(userId, cell.shard))) continue;
      const record = await recordOf(cell, userId).catch(unlessAway);
      if (record !== 'away' && record !== null) return record;
    }
    throw new Fault('unavailable');
  }
}

/** Two cells with one number would have logs of one name. Keeps cells.shard. */
function requireNumber({ shard, baseUrl }: AskedCell, own: number | undefined): void {
  if (own === undefined || own === shard) return;
  throw new Error(
    `CELLS says that ${baseUrl} is cell ${shard}, and its sync service has SHARD ${own}: set SHARD=${shard} for all services of that cell, or correct CELLS`,
  );
}

const unlessAway = onFault('unavailable', 'away');

async function recordOf(cell: AskedCell, userId: string): Promise<CopiedRecord | null> {
  const [found] = await cell.recordsOfPerson({ userId, model: User.name, after: LOWEST, limit: 1 });
  if (found === undefined) return null;
  return { model: User.name, id: userId, groupId: userId, record: found.record as CopiedRecord['record'] };
}

async function putPeople(cell: AskedCell, records: readonly CopiedRecord[]): Promise<void> {
  const body = { workspaceId: null, records: [...records] };
  await cell.sync.call(syncApi.internalPutRecords, { principal, body, idempotent: true });
}

/** Of equal times the first, which is that of the first cell. */
function newestOf(records: readonly (CopiedRecord | null)[]): CopiedRecord | null {
  const timeOf = (one: CopiedRecord): string => String(one.record?.['updatedAt']);
  return records.reduce(
    (newest, one) => (newest === null || (one !== null && timeOf(one) > timeOf(newest)) ? one : newest),
    null,
  );
}
