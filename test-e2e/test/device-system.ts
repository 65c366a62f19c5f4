import { eventually, startTestSystem, type TestSystem } from '@wts/testkit';
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';

export interface OtherWorkspace {
  readonly workspaceId: string;
  readonly taskId: string;
}

export interface PrivateProject {
  readonly projectId: string;
  readonly taskId: string;
}

interface LogEntry {
  readonly id: string;
  readonly action: string;
  readonly record: Readonly<Record<string, unknown>>;
}

let opening: Promise<DeviceSystem> | undefined;

/** The system of all files with devices. */
export function deviceSystem(): Promise<DeviceSystem> {
  return (opening ??= DeviceSystem.open());
}

after(async () => {
  await (await opening)?.[Symbol.asyncDispose]();
});

/** A system for tests of devices, with methods that change it while the devices are offline. */
export class DeviceSystem implements AsyncDisposable {
  readonly testSystem: TestSystem;
  readonly #database: Client;

  private constructor(testSystem: TestSystem, database: Client) {
    this.testSystem = testSystem;
    this.#database = database;
  }

  static async open(): Promise<DeviceSystem> {
    const testSystem = await startTestSystem({ label: 'devices', services: [] });
    const database = new Client({ connectionString: testSystem.database.url });
    await database.connect();
    return new DeviceSystem(testSystem, database);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#database.end();
    await this.testSystem.close();
  }

  newTask(more: object = {}): { id: string; title: string } {
    return { id: randomUUID(), workspaceId: this.testSystem.workspaceId, title: 'Task', ...more } as never;
  }

  put(...given: Parameters<TestSystem['put']>): Promise<string> {
    return this.testSystem.put(...given);
  }

  async change(modelName: string, modelId: string, payload: object): Promise<void> {
    await this.testSystem.commit([{ modelName, modelId, action: 'UPDATE', payload: { ...payload } }]);
  }

  async remove(modelName: string, modelId: string): Promise<void> {
    await this.testSystem.commit([{ modelName, modelId, action: 'DELETE', payload: {} }]);
  }

  /** Another workspace, with one task in it. */
  async otherWorkspace(): Promise<OtherWorkspace> {
    const id = randomUUID();
    const workspaceId = await this.put('Workspace', { name: 'Elsewhere', urlKey: `w-${id}` }, id);
    await this.testSystem.member('Eve', 'owner', workspaceId);
    return { workspaceId, taskId: await this.put('Task', { workspaceId, title: 'Theirs' }) };
  }

  /** A private project without members, with one task in it. */
  async privateProject(): Promise<PrivateProject> {
    const { workspaceId } = this.testSystem;
    const key = `P${randomUUID().slice(0, 8)}`;
    const projectId = await this.put('Project', { workspaceId, key, name: 'Secret', isPrivate: true });
    return { projectId, taskId: await this.put('Task', { workspaceId, projectId, title: 'Inside' }) };
  }

  /** A new task. A device that has received it has received every earlier entry that it will receive. */
  marker(): Promise<string> {
    return this.put('Task', { workspaceId: this.testSystem.workspaceId, title: 'Marker' });
  }

  /** Trims the log to its last entry, as retention does, and restarts sync, which has recent entries in memory. */
  async trimLog(): Promise<void> {
    await this.#database.query(`update sync.log_state set floor = (select max(sync_id) - 1 from sync.sync_actions)`);
    await this.#database.query(`delete from sync.sync_actions where sync_id <= (select floor from sync.log_state)`);
    await this.testSystem.service('sync').restart();
    await this.testSystem.untilReady();
  }

  /**
   * Loses the reply to a change that is committed: the test kills the gateway while the commit waits for a lock, and then
   * releases the lock.
   */
  async loseReplyTo(taskId: string, send: () => Promise<unknown>): Promise<void> {
    await this.#database.query('begin');
    await this.#database.query('lock table sync.tasks in share mode');
    await send();
    await eventually(() =>
      this.#has(`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`),
    );
    await this.testSystem.service('gateway').kill('SIGKILL');
    await this.#database.query('commit');
    await eventually(() => this.#has('select 1 from sync.tasks where id = $1', [taskId]));
    await this.testSystem.service('gateway').start();
    await this.testSystem.untilReady();
  }

  /** The actions of a record in the log, in order. */
  async logged(modelId: string): Promise<string[]> {
    return (await this.entriesOf(modelId)).map(({ action }) => action);
  }

  /** The entries of a record in the log, in order, with the record after each. */
  async entriesOf(modelId: string): Promise<LogEntry[]> {
    const sql = `select sync_id::text as id, action, record from sync.sync_actions where model_id = $1 order by sync_id`;
    return (await this.#database.query<LogEntry>(sql, [modelId])).rows;
  }

  async #has(sql: string, values: readonly unknown[] = []): Promise<boolean> {
    const { rows } = await this.#database.query(sql, [...values]);
    return rows.length > 0;
  }
}
