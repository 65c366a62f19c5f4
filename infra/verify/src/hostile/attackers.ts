import type { TestSystem } from '@wts/testkit';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Answers } from './attacker.ts';
import type { Done, Order } from './attackers-worker.ts';
import type { AttackName } from './attacks.ts';

export interface Met {
  readonly answers: Answers;
  /** What came to people it was not for. */
  readonly leaks: readonly string[];
  /** Of one processor: what attacking took itself. */
  readonly cpuShare: number;
}

interface Preparation {
  /** Between 0 and 1: how much of the full amount of data there is to be. Default 1. */
  readonly scale?: number;
  readonly onPrepared?: (name: AttackName) => void;
}

/**
 * Attackers, each a person of their own, in a process of their own: their work must not delay who measures. Between
 * `begin` and `end` an attack goes on; it is gone with the process, however this one ends.
 */
export class Attackers implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, (done: Done) => void>();
  #orders = 0;

  private constructor(process: ChildProcess) {
    this.#process = process;
    process.on('message', (done: Done) => {
      this.#waiting.get(done.nth)?.(done);
      this.#waiting.delete(done.nth);
    });
    process.on('exit', (code) => {
      for (const [nth, settle] of this.#waiting) settle({ nth, fault: `the process of the attackers ended: ${code}` });
    });
  }

  /** People of the system, with all they need for these attacks. */
  static async prepare(
    testSystem: TestSystem,
    names: readonly AttackName[],
    { scale = 1, onPrepared }: Preparation = {},
  ): Promise<Attackers> {
    const attackers = new Attackers(fork(new URL('attackers-worker.ts', import.meta.url)));
    try {
      for (const name of names) {
        const [one, other] = [await testSystem.person(`Attacker ${name}`), await testSystem.person(`Other ${name}`)];
        const tokens = [one.token, other.token] as const;
        await attackers.#order({ do: 'prepare', name, baseUrl: testSystem.baseUrl, tokens, scale });
        onPrepared?.(name);
      }
      return attackers;
    } catch (error) {
      await attackers[Symbol.asyncDispose]();
      throw error;
    }
  }

  async begin(name: AttackName): Promise<void> {
    await this.#order({ do: 'begin', name });
  }

  /** What the attack met. */
  async end(name: AttackName): Promise<Met> {
    const { answers = {}, leaks = [], cpuShare = 0 } = await this.#order({ do: 'end', name });
    return { answers, leaks, cpuShare };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await gone;
  }

  async #order(order: Order): Promise<Done> {
    if (!this.#process.connected) throw new Error('the process of the attackers has ended');
    this.#orders += 1;
    const nth = this.#orders;
    const done = await new Promise<Done>((resolve) => {
      this.#waiting.set(nth, resolve);
      this.#process.send({ nth, order });
    });
    if (done.fault !== undefined) throw new Error(done.fault);
    return done;
  }
}
