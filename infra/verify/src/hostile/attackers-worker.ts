/** The process of all attackers: prepares an attack, begins it and ends it as told. It ends with the process that started it. */
import { setTimeout as pause } from 'node:timers/promises';
import { Attacker, codeOf, type Answers } from './attacker.ts';
import { ATTACKS, type AttackName } from './attacks.ts';
import { Caller } from './caller.ts';

export type Order =
  | {
      readonly do: 'prepare';
      readonly name: AttackName;
      readonly baseUrl: string;
      readonly tokens: readonly [string, string];
      readonly scale: number;
    }
  | { readonly do: 'begin' | 'end'; readonly name: AttackName };

/** The outcome of the order of that number. */
export interface Done {
  readonly nth: number;
  readonly fault?: string;
  readonly answers?: Answers;
  readonly leaks?: readonly string[];
  /** Of one processor, for as long as the attack lasted: what the system could not have on a machine with few. */
  readonly cpuShare?: number;
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

/** The most requests of one attack at a time. */
const CONNECTIONS = 256;
const END_MS = 1_000;
const prepared = new Map<AttackName, Prepared>();

process.on('disconnect', () => process.exit(0));
process.on('message', ({ nth, order }: { nth: number; order: Order }) => {
  obey(order)
    .catch((error: unknown) => ({ fault: `${order.do} ${order.name}: ${String(error)}` }))
    .then((outcome) => process.send?.({ nth, ...outcome }))
    .catch(() => process.exit(1));
});

async function obey(order: Order): Promise<Omit<Done, 'nth'>> {
  if (order.do === 'prepare') {
    const [caller, other] = order.tokens.map((token) => new Caller(order.baseUrl, token, CONNECTIONS));
    if (caller === undefined || other === undefined) throw new Error('two people are needed');
    const attacker = new Attacker(caller, other, order.scale);
    prepared.set(order.name, { attacker, run: await ATTACKS[order.name](attacker), running: null });
    return {};
  }
  const attack = prepared.get(order.name);
  if (attack === undefined) throw new Error('not prepared');
  if (order.do === 'begin') {
    const stop = new AbortController();
    const count = (error: unknown): void => attack.attacker.count(codeOf(error));
    const [startedMs, cpu] = [performance.now(), process.cpuUsage()];
    attack.running = { stop, over: attack.run(stop.signal).catch(count), startedMs, cpu };
    return {};
  }
  const cpuShare = attack.running === null ? 0 : cpuShareOf(attack.running);
  attack.running?.stop.abort();
  // What waits for an answer may wait for long.
  await Promise.race([attack.running?.over, pause(END_MS)]);
  attack.running = null;
  return { answers: attack.attacker.takeAnswers(), leaks: attack.attacker.leaks.splice(0), cpuShare };
}

function cpuShareOf({ startedMs, cpu }: Running): number {
  const { user, system } = process.cpuUsage(cpu);
  return (user + system) / 1000 / (performance.now() - startedMs);
}
