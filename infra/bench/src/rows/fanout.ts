import type { TestSystem } from '@wts/testkit';
import { cpuMsOf } from '../cpu.ts';
import { GOALS } from '../goals.ts';
import type { Sizes } from '../sizes.ts';
import { headersOfGateway, type Target, type TargetProcess } from '../target.ts';
import { subscribeAtHead, untilReceived, type SocketAddress } from '../subscriber.ts';
import { inParallel } from '../load.ts';
import { atLeast, number, type ReportRow } from '../report.ts';
import { alternate, median, ratioOf } from '../rounds.ts';
import type { BenchmarkResult, BenchmarkContext } from '../context.ts';
import { mutate, openClients } from '../traffic.ts';

const WRITERS = 8;
const SILENT_MS = 2_000;
const DEADLINE_MS = 60_000;

/**
 * Actions per second to 500 sockets, including the time to write them one by one. It counts actions and not frames, because
 * ours may put several actions into one frame. Measured once at the sync process, as the peer's sockets are, and once through
 * the gateway, which is one more process.
 */
export async function fanoutRows(context: BenchmarkContext): Promise<BenchmarkResult> {
  const { testSystem, ours, peer, rounds, sizes } = context;
  const { sockets } = sizes.fanout;
  const { ratioMin } = GOALS.fanout;
  const sync = ours.processes().find(({ name }) => name === 'sync');
  const measured = await alternate<'ours' | 'gateway' | 'peer', Delivered>(rounds, {
    ours: () => fanOut(ours, sizes.fanout, sync === undefined ? [] : [sync], syncAddress(testSystem)),
    peer: peer === null ? undefined : () => fanOut(peer, sizes.fanout),
    gateway: () => fanOut(ours, sizes.fanout),
  });
  const theirs = measured.peer.map(rate);
  const row = (what: string, all: readonly Delivered[]): ReportRow => {
    const ratio = ratioOf(all.map(rate), theirs);
    return {
      what,
      ours: textOf(median(all, rate)),
      against: peer === null ? '' : `${peer.name} ${textOf(median(measured.peer, rate))}`,
      ...atLeast(ratio, ratioMin),
    };
  };
  const through = row(`actions to ${sockets} sockets, through the gateway`, measured.gateway);
  return {
    rows: [
      row(`actions to ${sockets} sockets of one process`, measured.ours),
      // The goal is for one process; the ratio through the gateway is for information.
      { ...through, goal: '', isReached: null },
    ],
    raw: measured,
  };
}

export interface Delivered {
  readonly perSecond: number;
  readonly framesPerSecond: number;
  /** Of the processes between writer and sockets, per delivered action. */
  readonly cpuMicros: number | null;
}

const rate = ({ perSecond }: Delivered): number => perSecond;
const textOf = ({ perSecond, cpuMicros }: Delivered): string =>
  `${number(perSecond)}/s${cpuMicros === null ? '' : `, ${cpuMicros.toFixed(1)} µs of CPU per action`}`;

/** The address of the sync service, with the internal token that the gateway would add. */
function syncAddress(testSystem: TestSystem): SocketAddress {
  const url = `${testSystem.service('sync').url.replace(/^http/, 'ws')}/sync/ws`;
  const headers = headersOfGateway(testSystem, 'sync');
  return () => ({ url, headers: headers() });
}

export async function fanOut(
  target: Target,
  { sockets: count, actions }: Sizes['fanout'],
  processes: readonly TargetProcess[] = target.processes(),
  address?: SocketAddress,
): Promise<Delivered> {
  using sockets = await subscribeAtHead(target, count, 'count', address);
  await using pool = openClients(target.baseUrl, WRITERS);
  const cpuMs = (): number | null => cpuMsOf(processes.map(({ pid }) => pid));
  const before = cpuMs();
  const frames = sockets.reduce((sum, socket) => sum + socket.frames, 0);
  const startedMs = performance.now();
  await inParallel(WRITERS, actions, () => mutate(pool, target, 1));
  const lastMs = await untilReceived(sockets, actions * count, SILENT_MS, DEADLINE_MS);
  const seconds = (lastMs - startedMs) / 1000;
  const after = cpuMs();
  const delivered = sockets.reduce((sum, socket) => sum + socket.actions, 0);
  return {
    perSecond: delivered / seconds,
    framesPerSecond: (sockets.reduce((sum, socket) => sum + socket.frames, 0) - frames) / seconds,
    cpuMicros: before === null || after === null ? null : ((after - before) * 1000) / delivered,
  };
}
