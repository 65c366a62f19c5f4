import type { TestSystem } from '@wts/testkit';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Outcomes } from './attacker.ts';
import type { AttackerCommand, AttackerReply } from './attackers-worker.ts';
import { ACCOUNTS_OF, type AttackName } from './attacks.ts';

export interface AttackResult {
  readonly outcomes: Outcomes;
  /** Data that an attacker read without access. */
  readonly leaks: readonly string[];
  /** CPU time of the attackers, as a share of one processor. */
  readonly cpuShare: number;
}

interface Preparation {
  /** Between 0 and 1: the share of the full amount of data. Default 1. */
  readonly scale?: number;
  readonly onPrepared?: (name: AttackName) => void;
}

/**
 * Attackers in a separate process, so that their work does not delay the process that measures. Each attack has its own
 * person. It runs from `begin` to `end`, or until this process ends.
 */
export class Attackers implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, (reply: AttackerReply) => void>();
  #commands = 0;

  private constructor(process: ChildProcess) {
    this.#process = process;
    process.on('message', (reply: AttackerReply) => {
      this.#waiting.get(reply.nth)?.(reply);
      this.#waiting.delete(reply.nth);
    });
    process.on('exit', (code) => {
      for (const [nth, settle] of this.#waiting)
        settle({ nth, error: `the process of the attackers exited with ${code}` });
    });
  }

  /** Creates the people and the data for these attacks. */
  static async prepare(
    testSystem: TestSystem,
    names: readonly AttackName[],
    { scale = 1, onPrepared }: Preparation = {},
  ): Promise<Attackers> {
    const attackers = new Attackers(fork(new URL('attackers-worker.ts', import.meta.url)));
    try {
      for (const name of names) {
        const tokenOf = async (who: string): Promise<string> => (await testSystem.person(`${who} ${name}`)).token;
        const accounts: string[] = [];
        while (accounts.length < (ACCOUNTS_OF[name] ?? 0)) accounts.push(await tokenOf('Account'));
        const tokens = { one: await tokenOf('Attacker'), other: await tokenOf('Other'), accounts };
        await attackers.#command({ do: 'prepare', name, baseUrl: testSystem.baseUrl, tokens, scale });
        onPrepared?.(name);
      }
      return attackers;
    } catch (error) {
      await attackers[Symbol.asyncDispose]();
      throw error;
    }
  }

  async begin(name: AttackName): Promise<void> {
    await this.#command({ do: 'begin', name });
  }

  async end(name: AttackName): Promise<AttackResult> {
    const { outcomes = {}, leaks = [], cpuShare = 0 } = await this.#command({ do: 'end', name });
    return { outcomes, leaks, cpuShare };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await exited;
  }

  async #command(command: AttackerCommand): Promise<AttackerReply> {
    if (!this.#process.connected) throw new Error('the process of the attackers has exited');
    this.#commands += 1;
    const nth = this.#commands;
    const reply = await new Promise<AttackerReply>((resolve) => {
      this.#waiting.set(nth, resolve);
      this.#process.send({ nth, command });
    });
    if (reply.error !== undefined) throw new Error(reply.error);
    return reply;
  }
}
