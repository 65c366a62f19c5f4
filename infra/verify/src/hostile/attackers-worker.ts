/** The process of all attackers: prepares, begins and ends attacks by command. */
import { setTimeout as pause } from 'node:timers/promises';
import { serveCommands } from '@wts/testkit/worker';
import { Attacker, codeOf, type Outcomes } from './attacker.ts';
import { ATTACKS, type AttackName } from './attacks.ts';
import { HttpCaller } from './http-caller.ts';

export type AttackerCommand =
  | {
      readonly do: 'prepare';
      readonly name: AttackName;
      readonly baseUrl: string;
      readonly tokens: { readonly one: string; readonly other: string; readonly accounts: readonly string[] };
      readonly scale: number;
    }
  | { readonly do: 'begin' | 'end'; readonly name: AttackName };

export interface AttackResult {
  readonly outcomes: Outcomes;
  /** Data that an attacker read without access. */
  readonly leaks: readonly string[];
  /** CPU time of this process during the attack, as a share of one processor. */
  readonly cpuShare: number;
}

interface Running {
  readonly stop: AbortController;
  readonly over: Promise<void>;
  readonly startedMs: number;
  readonly cpu: NodeJS.CpuUsage;
}

interface Prepared {
  readonly attacker: Attacker;
  readonly run: (stop: AbortSignal) => Promise<void>;
  running: Running | null;
}

const CONNECTIONS_MAX = 256;
const CONNECTIONS_OF_ACCOUNT_MAX = 16;
/** A network of its own on Linux; on macOS only after `ifconfig lo0 alias 127.0.0.2`. */
const ACCOUNTS_ADDRESS = '127.0.0.2';
const END_MS = 1_000;
const prepared = new Map<AttackName, Prepared>();

serveCommands(async (command: AttackerCommand): Promise<AttackResult | void> => {
  if (command.do === 'prepare') {
    const { baseUrl, tokens, scale } = command;
    const callerOf = (token: string): HttpCaller => new HttpCaller(baseUrl, token, { connections: CONNECTIONS_MAX });
    const ofAccounts = { connections: CONNECTIONS_OF_ACCOUNT_MAX, localAddress: ACCOUNTS_ADDRESS };
    const attacker = new Attacker({
      caller: callerOf(tokens.one),
      other: callerOf(tokens.other),
      accounts: tokens.accounts.map((token) => new HttpCaller(baseUrl, token, ofAccounts)),
      scale,
    });
    prepared.set(command.name, { attacker, run: await ATTACKS[command.name](attacker), running: null });
    return;
  }
  const attack = prepared.get(command.name);
  if (attack === undefined) throw new Error('not prepared');
  if (command.do === 'begin') {
    const stop = new AbortController();
    const count = (error: unknown): void => attack.attacker.count(codeOf(error));
    const [startedMs, cpu] = [performance.now(), process.cpuUsage()];
    attack.running = { stop, over: attack.run(stop.signal).catch(count), startedMs, cpu };
    return;
  }
  const cpuShare = attack.running === null ? 0 : cpuShareOf(attack.running);
  attack.running?.stop.abort();
  // A pending request may take long.
  await Promise.race([attack.running?.over, pause(END_MS)]);
  attack.running = null;
  return { outcomes: attack.attacker.takeOutcomes(), leaks: attack.attacker.leaks.splice(0), cpuShare };
});

function cpuShareOf({ startedMs, cpu }: Running): number {
  const { user, system } = process.cpuUsage(cpu);
  return (user + system) / 1000 / (performance.now() - startedMs);
}
