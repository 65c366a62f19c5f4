/**
 * A device written from the specification alone: HTTP, a WebSocket, and actions as words. It loads a snapshot, follows the log,
 * and sends its changes until it gets a reply.
 */
import type { ActionName, DeltasReply, MutateReply, SyncAction, SyncTransaction } from '@wts/contracts';
import { eventually, socketOf, type LiveSocket } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

export type WordsRow = Record<string, unknown>;

interface Host {
  readonly baseUrl: string;
}

interface Snapshot {
  readonly lastSyncId: string;
  readonly rows: readonly WordsRow[];
}

const RETRY_MS = 50;

export class WordsDevice implements AsyncDisposable {
  /** Every applied action, in order. */
  readonly received: SyncAction[] = [];
  /** The number of loaded snapshots. */
  loads = 0;
  readonly #host: Host;
  readonly #token: string;
  readonly #userId: string;
  readonly #clientId = randomUUID();
  readonly #rows = new Map<string, WordsRow>();
  readonly #outbox: SyncTransaction[] = [];
  #cursor = '0';
  #socket: LiveSocket | null = null;
  #frames = 0;

  private constructor(host: Host, token: string, userId: string) {
    this.#host = host;
    this.#token = token;
    this.#userId = userId;
  }

  static async open(host: Host, person: { token: string; userId: string }): Promise<WordsDevice> {
    const device = new WordsDevice(host, person.token, person.userId);
    await device.load();
    await device.goOnline();
    return device;
  }

  async goOffline(): Promise<void> {
    await this.#socket?.close();
    this.#socket = null;
  }

  /** Catches up by pages, subscribes, and sends waiting changes. */
  async goOnline(): Promise<void> {
    await this.#catchUp();
    await this.#subscribe();
    await this.#send();
  }

  /** Adds a change to the outbox, and sends it when the device is online. */
  async do(
    action: ActionName,
    modelName: string,
    modelId: string,
    payload: WordsRow = {},
  ): Promise<MutateReply | null> {
    this.#outbox.push({
      clientTxId: randomUUID(),
      clientId: this.#clientId,
      modelName,
      modelId,
      action,
      payload,
    });
    return this.#socket === null ? null : this.#send();
  }

  shows(id: string): WordsRow | undefined {
    return this.#rows.get(id);
  }

  async untilShows(id: string, wanted: WordsRow = {}): Promise<WordsRow> {
    return eventually(async () => {
      await this.#applyFrames();
      const row = this.#rows.get(id);
      assert.ok(row !== undefined, `${id} is missing`);
      for (const [field, value] of Object.entries(wanted)) assert.deepEqual(row[field], value, field);
      return row;
    });
  }

  async untilGone(id: string): Promise<void> {
    await eventually(async () => {
      await this.#applyFrames();
      return !this.#rows.has(id);
    });
  }

  async batch(request: object): Promise<WordsRow[]> {
    const answer = await this.#call('POST', '/sync/batch', { requests: [request] });
    return readLines(await answer.text());
  }

  /** Loads a new snapshot. */
  async load(): Promise<void> {
    const { lastSyncId, rows } = await this.#snapshot('');
    this.#rows.clear();
    for (const row of rows) this.#rows.set(row['id'] as string, row);
    this.#cursor = lastSyncId;
    this.loads += 1;
  }

  setCursor(cursor: string): void {
    this.#cursor = cursor;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.goOffline();
  }

  async #snapshot(query: string): Promise<Snapshot> {
    const answer = await this.#call('GET', `/sync/bootstrap${query}`);
    assert.match(answer.headers.get('content-type') ?? '', /^application\/x-ndjson/);
    const [first, ...others] = readLines(await answer.text());
    const last = others.pop();
    assert.deepEqual(last, { type: 'end', rowCount: others.length });
    return {
      lastSyncId: first?.['lastSyncId'] as string,
      rows: others.map((line) => Object.fromEntries(Object.entries(line).filter(([field]) => field !== '__class'))),
    };
  }

  async #catchUp(): Promise<void> {
    const { loads } = this;
    for (let hasMore = true; hasMore;) {
      const answer = await this.#call('GET', `/sync/deltas?after=${this.#cursor}&limit=100`, undefined, [200, 409]);
      if (answer.status === 409) {
        assert.equal(((await answer.json()) as { error: string }).error, 'BOOTSTRAP_REQUIRED');
        await this.load();
        assert.equal(this.loads, loads + 1, 'the cursor of a new snapshot must be in the log');
        continue;
      }
      const page = (await answer.json()) as DeltasReply;
      await this.#applyAll(page.actions, page.lastSyncId);
      hasMore = page.hasMore;
    }
  }

  async #subscribe(): Promise<void> {
    this.#socket = await socketOf(this.#host, { token: this.#token, after: this.#cursor });
    this.#frames = 0;
  }

  /** Applies the frames that the socket received since the last call. */
  async #applyFrames(): Promise<void> {
    const socket = this.#socket;
    while (socket !== null && this.#socket === socket && this.#frames < socket.frames.length) {
      const frame = socket.frames[this.#frames];
      this.#frames += 1;
      if (frame?.packet !== undefined) await this.#applyAll(frame.packet.actions, frame.packet.lastSyncId);
    }
  }

  async #applyAll(actions: readonly SyncAction[], lastSyncId: string): Promise<void> {
    for (const action of actions) {
      assert.ok(BigInt(action.syncId) > BigInt(this.#cursor), `${action.syncId} after ${this.#cursor}`);
      this.#cursor = action.syncId;
      this.received.push(action);
      await this.#apply(action);
    }
    if (BigInt(lastSyncId) > BigInt(this.#cursor)) this.#cursor = lastSyncId;
  }

  async #apply({ action, modelId, modelName, groupId, data, syncId }: SyncAction): Promise<void> {
    const row = this.#rows.get(modelId);
    if (action === 'INSERT') this.#rows.set(modelId, { ...data });
    else if (action === 'DELETE') this.#rows.delete(modelId);
    else if (row !== undefined) Object.assign(row, data);
    if (groupId !== this.#userId || (action !== 'INSERT' && action !== 'DELETE')) return;
    if (action === 'DELETE' && modelName.endsWith('Member')) await this.#dropLost();
    const gained = modelName === 'WorkspaceMember' ? data['workspaceId'] : data['projectId'];
    if (action === 'INSERT' && typeof gained === 'string') await this.#gain(gained, syncId);
  }

  async #gain(group: string, syncId: string): Promise<void> {
    const { rows } = await this.#snapshot(`?syncGroups=${group}&firstSyncId=${syncId}`);
    for (const row of rows) this.#rows.set(row['id'] as string, row);
  }

  /** Drops the records that a new snapshot does not have. */
  async #dropLost(): Promise<void> {
    const { rows } = await this.#snapshot('');
    const kept = new Set(rows.map(({ id }) => id));
    for (const id of this.#rows.keys()) if (!kept.has(id)) this.#rows.delete(id);
  }

  /** Sends the same transactions until there is a reply. */
  async #send(): Promise<MutateReply | null> {
    const transactions = this.#outbox.slice(0, 100);
    if (transactions.length === 0) return null;
    for (;;) {
      const body = { batchId: randomUUID(), transactions };
      const answer = await this.#call('POST', '/sync/mutate', body, [200, 502, 503]).catch(() => null);
      if (answer?.status === 200) {
        this.#outbox.splice(0, transactions.length);
        const reply = (await answer.json()) as MutateReply;
        const more = await this.#send();
        return more ?? reply;
      }
      await pause(RETRY_MS);
    }
  }

  async #call(method: string, path: string, body?: object, expected: readonly number[] = [200]): Promise<Response> {
    const answer = await fetch(`${this.#host.baseUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!expected.includes(answer.status)) throw new Error(`${path} answers ${answer.status}: ${await answer.text()}`);
    return answer;
  }
}

function readLines(text: string): WordsRow[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as WordsRow);
}
