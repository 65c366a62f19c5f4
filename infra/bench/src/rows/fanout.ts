import { tokenMinter } from '@wts/access';
import { HEADERS } from '@wts/contracts';
import type { TestSystem } from '@wts/testkit';
import { cpuMsOf } from '../cpu.ts';
import type { Target, Part } from '../target.ts';
import { listenAtHead, untilHeard, type SocketWay } from '../listening.ts';
import { inParallel } from '../load.ts';
import type { Row } from '../report.ts';
import { number, ratioText, reaches } from '../report.ts';
import { inTurns, median, ratioOf } from '../rounds.ts';
import type { Findings, Scene } from '../scene.ts';
import { mutate, openClients } from '../traffic.ts';

const SOCKETS = 500;
const ACTIONS = 400;
const WRITERS = 8;
const RATIO_MIN = 2.5;
const SILENT_MS = 2_000;
const DEADLINE_MS = 60_000;

/**
 * Actions a second to 500 sockets; writing them, one at a time, is part of it. The peer sends a frame for each action, ours
 * may put several into one, so what is counted is actions delivered. Once at the sync process itself, as the peer's sockets
 * are at theirs, and once through the gateway, which is one more process between.
 */
export async function fanoutRows({ testSystem, ours, peer, rounds }: Scene): Promise<Findings> {
  const sync = ours.parts().find(({ name }) => name === 'sync');
  const measured = await inTurns<'ours' | 'gateway' | 'peer', Delivered>(rounds, {
    ours: () => measure(ours, sync === undefined ? [] : [sync], straightAt(testSystem)),
    peer: peer === null ? undefined : () => measure(peer, peer.parts()),
    gateway: () => measure(ours, ours.parts()),
  });
  const theirs = measured.peer.map(rate);
  const row = (what: string, all: readonly Delivered[]): Row => {
    const ratio = ratioOf(all.map(rate), theirs);
    return {
      what,
      ours: words(median(all, rate)),
      against: peer === null ? '' : `${peer.name} ${words(median(measured.peer, rate))}`,
      ratio: ratioText(ratio),
      goal: `>= ${RATIO_MIN}x`,
      isReached: reaches(ratio, RATIO_MIN),
    };
  };
  const through = row(`actions to ${SOCKETS} sockets, through the gateway`, measured.gateway);
  return {
    rows: [
      row(`actions to ${SOCKETS} sockets of one process`, measured.ours),
      // The goal is that of one process; with two on the way the ratio is for information.
      { ...through, goal: '', isReached: null },
    ],
    raw: measured,
  };
}

interface Delivered {
  readonly perSecond: number;
  readonly framesPerSecond: number;
  /** Of the processes on the way, for each action delivered. */
  readonly cpuMicros: number | null;
}

const rate = ({ perSecond }: Delivered): number => perSecond;
const words = ({ perSecond, cpuMicros }: Delivered): string =>
  `${number(perSecond)}/s${cpuMicros === null ? '' : `, ${cpuMicros.toFixed(1)} µs of CPU each`}`;

/** At the sync service, with the token that the gateway would have given the caller. */
function straightAt(testSystem: TestSystem): SocketWay {
  const { userId, internalTokenSecret } = testSystem;
  const url = `${testSystem.service('sync').url.replace(/^http/, 'ws')}/sync/ws`;
  return () => {
    const credential = { kind: 'api_key', id: 'bench' } as const;
    const token = tokenMinter({ from: 'gateway', to: 'sync', secret: internalTokenSecret })({
      userId,
      scopes: ['read'],
      credential,
    });
    return { url, headers: { [HEADERS.principal]: token } };
  };
}

async function measure(target: Target, onTheWay: readonly Part[], way?: SocketWay): Promise<Delivered> {
  const sockets = await listenAtHead(target, SOCKETS, 'count', way);
  const pool = openClients(target.baseUrl, WRITERS);
  const cpuMs = (): number | null => cpuMsOf(onTheWay.map(({ pid }) => pid));
  try {
    const before = cpuMs();
    const frames = sockets.reduce((sum, socket) => sum + socket.frames, 0);
    const startedMs = performance.now();
    await inParallel(WRITERS, ACTIONS, () => mutate(pool, target, 1));
    const lastMs = await untilHeard(sockets, ACTIONS * SOCKETS, SILENT_MS, DEADLINE_MS);
    const seconds = (lastMs - startedMs) / 1000;
    const after = cpuMs();
    const delivered = sockets.reduce((sum, { actions }) => sum + actions, 0);
    return {
      perSecond: delivered / seconds,
      framesPerSecond: (sockets.reduce((sum, socket) => sum + socket.frames, 0) - frames) / seconds,
      cpuMicros: before === null || after === null ? null : ((after - before) * 1000) / delivered,
    };
  } finally {
    for (const socket of sockets) socket.close();
    await pool.close();
  }
}
