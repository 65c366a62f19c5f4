import { setTimeout as pause } from 'node:timers/promises';
import type { BenchmarkContext, BenchmarkResult } from '../context.ts';
import { treeOf } from '../cpu.ts';
import { GOALS } from '../goals.ts';
import { proportionalMb, residentMb } from '../memory.ts';
import { number } from '../report.ts';

/** In these rounds, 20 s or more by default, an idle service gives back what its start took. */
const ROUNDS = 7;

/** Resident memory of the whole idle system: the sum of its processes, and without counting shared pages more than once. */
export async function memoryRows({ testSystem, seconds }: BenchmarkContext): Promise<BenchmarkResult> {
  await pause(ROUNDS * seconds * 1_000);
  const { services, postgres, nats } = testSystem;
  const parts = [
    ...services.map(({ name, pid }) => [name, pid] as const),
    ['PostgreSQL', postgres.pid()] as const,
    ['NATS', nats.pid()] as const,
  ].map(([name, pid]) => {
    const pids = pid === null ? [] : treeOf(pid);
    return { name, residentMb: residentMb(pids), proportionalMb: proportionalMb(pids) };
  });
  const sum = (of: (part: (typeof parts)[number]) => number): number =>
    parts.reduce((total, part) => total + of(part), 0);
  const totalMb = sum((part) => part.residentMb);
  const { residentMbMax } = GOALS.memory;
  return {
    rows: [
      {
        what: 'resident memory of the whole idle system',
        ours: `${number(totalMb)} MB (${parts.map((part) => `${part.name} ${Math.round(part.residentMb)}`).join(', ')})`,
        against: `shared pages once ${number(sum((part) => part.proportionalMb))} MB`,
        ratio: '',
        goal: `<= ${residentMbMax} MB`,
        isReached: totalMb <= residentMbMax,
      },
    ],
    raw: parts,
  };
}
