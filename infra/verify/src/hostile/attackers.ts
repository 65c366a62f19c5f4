import type { TestSystem } from '@wts/testkit';
import { Worker } from '@wts/testkit/worker';
import type { AttackerCommand, AttackResult } from './attackers-worker.ts';
import { ACCOUNTS_OF, type AttackName } from './attacks.ts';

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
  readonly #worker = new Worker<AttackerCommand>(new URL('attackers-worker.ts', import.meta.url));

  /** Creates the people and the data for these attacks. */
  static async prepare(
    testSystem: TestSystem,
    names: readonly AttackName[],
    { scale = 1, onPrepared }: Preparation = {},
  ): Promise<Attackers> {
    await using opening = new AsyncDisposableStack();
    const attackers = opening.use(new Attackers());
    for (const name of names) {
      const tokenOf = async (who: string): Promise<string> => (await testSystem.person(`${who} ${name}`)).token;
      const accounts: string[] = [];
      while (accounts.length < (ACCOUNTS_OF[name] ?? 0)) accounts.push(await tokenOf('Account'));
      const tokens = { one: await tokenOf('Attacker'), other: await tokenOf('Other'), accounts };
      await attackers.#do({ do: 'prepare', name, baseUrl: testSystem.baseUrl, tokens, scale });
      onPrepared?.(name);
    }
    opening.move();
    return attackers;
  }

  begin(name: AttackName): Promise<void> {
    return this.#do({ do: 'begin', name });
  }

  end(name: AttackName): Promise<AttackResult> {
    return this.#do({ do: 'end', name });
  }

  async #do<Result = void>(command: AttackerCommand): Promise<Result> {
    return this.#worker.do<Result>(command).catch((cause: unknown) => {
      throw new Error(`${command.do} ${command.name}: ${(cause as Error).message}`, { cause });
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#worker[Symbol.asyncDispose]();
  }
}
