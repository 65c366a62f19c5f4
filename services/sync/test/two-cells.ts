import { syncApi, type BodyOf, type Contract, type CopiedRecord, type ReplyOf } from '@wts/contracts';
import { Moves } from '../src/moves/moves.ts';
import { copyReads } from '../src/queries/copies.ts';
import { TestEngines } from './test-engines.ts';

const READS = copyReads(0);
const { COPIED_LAST, COPIED_MEMBERSHIPS, COPIED_MODELS } = syncApi;
const COMPARED = [...COPIED_MODELS, ...COPIED_LAST, ...COPIED_MEMBERSHIPS];

/** One cell with two replicas, and the operations by which auth moves a workspace. */
export class TestCell implements AsyncDisposable {
  readonly engines: TestEngines;
  readonly moves: Moves;

  private constructor(engines: TestEngines) {
    this.engines = engines;
    this.moves = new Moves(engines.checks, engines.all[0]!);
  }

  static async open(label: string): Promise<TestCell> {
    return new TestCell(await TestEngines.open(label));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.engines[Symbol.asyncDispose]();
  }

  async read<C extends Contract>(contract: C, body: BodyOf<C>): Promise<ReplyOf<C>> {
    const found = READS.find((one) => one.contract === contract);
    return (await found!.readOf(body)(this.engines.checks)) as ReplyOf<C>;
  }

  async pages(workspaceId: string, model: string, limit = 100): Promise<{ records: CopiedRecord[]; head: string }> {
    const records: CopiedRecord[] = [];
    let head: string | undefined;
    for (let after: string | null | undefined; after !== null;) {
      const more = after === undefined ? {} : { after };
      const page = await this.read(syncApi.internalReadWorkspacePage, { workspaceId, model, limit, ...more });
      records.push(...page.records);
      head ??= page.lastSyncId;
      after = page.next;
    }
    return { records, head: head ?? '0' };
  }

  async digests(workspaceId: string): Promise<unknown> {
    return (await this.read(syncApi.internalDigestWorkspace, { workspaceId, models: COMPARED })).models;
  }
}

/** A move as auth makes it; its parts may be repeated. */
export class TestMove {
  readonly from: TestCell;
  readonly to: TestCell;
  readonly workspaceId: string;
  #followed: string | null = null;

  constructor(from: TestCell, to: TestCell, workspaceId: string) {
    this.from = from;
    this.to = to;
    this.workspaceId = workspaceId;
  }

  /** `limit`: records of a page, for which the entries of large transactions are divided too. */
  async copy(limit = 100): Promise<void> {
    const { workspaceId } = this;
    await this.to.moves.setState({ workspaceId, state: 'arriving' });
    for (const [index, model] of ['User', ...COPIED_MODELS].entries()) {
      const { records, head } = await this.from.pages(workspaceId, model, limit);
      if (index === 0) this.#followed ??= head;
      await this.#put(model === 'User' ? null : workspaceId, records);
    }
    const through = this.#followed ?? '0';
    for (let after = '0', more = true; more;) {
      const page = await this.from.read(syncApi.internalReadWorkspaceKeys, { workspaceId, after, through, limit });
      await this.to.moves.put({ workspaceId, records: [], keys: page.keys, usedGroups: page.usedGroups });
      ({ lastSyncId: after, more } = page);
    }
  }

  async follow(limit = 100): Promise<void> {
    const { workspaceId } = this;
    for (let more = true; more;) {
      const page = await this.from.read(syncApi.internalReadWorkspaceEntries, {
        workspaceId,
        after: this.#followed ?? '0',
        limit,
      });
      await this.to.moves.put({ workspaceId, records: page.records, keys: page.keys });
      this.#followed = page.lastSyncId;
      ({ more } = page);
    }
  }

  freeze(): Promise<{ readonly lastSyncId: string }> {
    return this.from.moves.setState({ workspaceId: this.workspaceId, state: 'moving' });
  }

  async copyLast(): Promise<void> {
    for (const model of [...COPIED_LAST, ...COPIED_MEMBERSHIPS])
      await this.#put(this.workspaceId, (await this.from.pages(this.workspaceId, model)).records);
  }

  async switch(baseUrl: string): Promise<void> {
    const { workspaceId } = this;
    await this.to.moves.setState({ workspaceId, state: 'none' });
    await this.from.moves.setState({ workspaceId, state: 'moved', baseUrl });
  }

  async all(baseUrl = 'https://two.example'): Promise<void> {
    await this.copy();
    await this.follow();
    await this.freeze();
    await this.follow();
    await this.copyLast();
    await this.switch(baseUrl);
  }

  async #put(workspaceId: string | null, records: readonly CopiedRecord[]): Promise<void> {
    for (let from = 0; from < records.length; from += syncApi.MOVE_RECORDS_MAX)
      await this.to.moves.put({ workspaceId, records: records.slice(from, from + syncApi.MOVE_RECORDS_MAX) });
  }
}
