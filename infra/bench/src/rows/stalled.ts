import type { Target } from '../target.ts';
import { subscribeAtHead } from '../subscriber.ts';
import { inParallel } from '../load.ts';
import { GOALS } from '../goals.ts';
import { HeapInspector, residentMb } from '../memory.ts';
import { number } from '../report.ts';
import { alternateWithPeer, median } from '../rounds.ts';
import type { Sizes } from '../sizes.ts';
import type { BenchmarkResult, BenchmarkContext } from '../context.ts';
import { mutate, openClients } from '../traffic.ts';

const STALLED = 20;
/** More than the socket buffers of the operating system hold, on both sides of the gateway. */
const LARGE_BYTES = 10_000;
const BATCH = 10;
const WRITERS = 4;
/** The server keeps recent changes in memory up to a bound, which these loads reach. */
const WARM_UPS = 3;

/** The memory for 20 sockets that never read: the peak with them minus the peak of the same load without sockets. */
export async function stalledRows(context: BenchmarkContext): Promise<BenchmarkResult> {
  const { ours, peer, rounds, sizes, print } = context;
  const { grownMbMax } = GOALS.stalled;
  await using opened = new AsyncDisposableStack();
  const inspectors = new Map<Target, HeapInspector>();
  for (const target of peer === null ? [ours] : [ours, peer]) {
    inspectors.set(target, opened.use(await HeapInspector.open(target.processes())));
    for (let time = 0; time < WARM_UPS; time += 1) await write(target, sizes.stalled.actions);
    print(`${target.name} is warmed up`);
  }
  const measured = await alternateWithPeer(rounds, context, (target) =>
    growthOf(target, sizes.stalled, inspectors.get(target)),
  );
  const us = median(measured.ours, ({ heldMb }) => heldMb);
  return {
    rows: [
      {
        what: `memory held for ${STALLED} stalled sockets`,
        ours: textOf(us),
        against: peer === null ? '' : `${peer.name} ${textOf(median(measured.peer, ({ heldMb }) => heldMb))}`,
        ratio: '',
        goal: `< ${grownMbMax} MB`,
        isReached: us.heldMb < grownMbMax,
      },
    ],
    raw: measured,
  };
}

interface MemoryGrowth {
  readonly heldMb: number;
  readonly residentMb: number;
  readonly processes: { readonly [name: string]: number };
}

const textOf = ({ heldMb, residentMb: resident }: MemoryGrowth): string =>
  `${signed(heldMb)} MB (resident ${signed(resident)} MB)`;
const signed = (megabytes: number): string => `${megabytes < 0 ? '-' : '+'}${number(Math.abs(megabytes))}`;
const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

type Load = Sizes['stalled'];

async function growthOf(target: Target, load: Load, inspector: HeapInspector | undefined): Promise<MemoryGrowth> {
  const alone = await peakOf(target, load, inspector);
  using sockets = await subscribeAtHead(target, STALLED);
  for (const socket of sockets) socket.pause();
  const stalled = await peakOf(target, load, inspector);
  const names = target.processes().map(({ name }) => name);
  return {
    heldMb: sum(stalled.held) - sum(alone.held),
    residentMb: stalled.residentMb - alone.residentMb,
    processes: Object.fromEntries(names.map((name, at) => [name, (stalled.held[at] ?? 0) - (alone.held[at] ?? 0)])),
  };
}

/** The peak memory during a load, because a server that closes stalled sockets has it before the end. */
async function peakOf(
  target: Target,
  { actions, samples: count }: Load,
  inspector: HeapInspector | undefined,
): Promise<{ held: readonly number[]; residentMb: number }> {
  const samples: { held: readonly number[]; residentMb: number }[] = [];
  while (samples.length < count) {
    await write(target, actions / count);
    const held = (await inspector?.heldMb()) ?? [];
    samples.push({ held, residentMb: residentMb(target.processes().map(({ pid }) => pid)) });
  }
  return {
    held: samples.reduce((top, one) => (sum(one.held) > sum(top) ? one.held : top), [] as readonly number[]),
    residentMb: Math.max(...samples.map((one) => one.residentMb)),
  };
}

async function write(target: Target, actions: number): Promise<void> {
  await using pool = openClients(target.baseUrl, WRITERS);
  const description = 'x'.repeat(LARGE_BYTES);
  await inParallel(WRITERS, actions / BATCH, () => mutate(pool, target, BATCH, { description }));
}
