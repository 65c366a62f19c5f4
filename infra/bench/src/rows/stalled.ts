import type { Target } from '../target.ts';
import { listenAtHead } from '../listening.ts';
import { inParallel } from '../load.ts';
import { Inside, residentMb } from '../memory.ts';
import { number } from '../report.ts';
import { inTurns, median } from '../rounds.ts';
import type { Findings, Scene } from '../scene.ts';
import { mutate, openClients } from '../traffic.ts';

const STALLED = 20;
/** More than the system's own buffers of a connection take, on both sides of a gateway. */
const LARGE_BYTES = 10_000;
const ACTIONS = 3_000;
const BATCH = 10;
const WRITERS = 4;
/** Looked at so many times while it is written: a server that closes sockets that stall has held the most before. */
const LOOKS = 3;
/** Recent changes are kept in memory up to a bound; from then on more of them take no more. */
const WARM_UPS = 3;
const GROWN_MB_MAX = 10;

/** What 20 sockets that never read cost, beyond what writing the same to nobody costs. */
export async function stalledRows({ ours, peer, rounds, say }: Scene): Promise<Findings> {
  await using opened = new AsyncDisposableStack();
  const insides = new Map<Target, Inside>();
  for (const target of peer === null ? [ours] : [ours, peer]) {
    insides.set(target, opened.use(await Inside.open(target.parts())));
    for (let time = 0; time < WARM_UPS; time += 1) await write(target, ACTIONS);
    say(`${target.name} is warm`);
  }
  const measured = await inTurns<'ours' | 'peer', Grown>(rounds, {
    ours: () => grown(ours, insides.get(ours)),
    peer: peer === null ? undefined : () => grown(peer, insides.get(peer)),
  });
  const us = median(measured.ours, ({ heldMb }) => heldMb);
  return {
    rows: [
      {
        what: `memory held for ${STALLED} stalled sockets`,
        ours: words(us),
        against: peer === null ? '' : `${peer.name} ${words(median(measured.peer, ({ heldMb }) => heldMb))}`,
        ratio: '',
        goal: `< ${GROWN_MB_MAX} MB`,
        isReached: us.heldMb < GROWN_MB_MAX,
      },
    ],
    raw: measured,
  };
}

interface Grown {
  readonly heldMb: number;
  readonly residentMb: number;
  /** What each process holds more. */
  readonly parts: { readonly [name: string]: number };
}

const words = ({ heldMb, residentMb: resident }: Grown): string =>
  `${signed(heldMb)} MB (resident ${signed(resident)} MB)`;
const signed = (megabytes: number): string => `${megabytes < 0 ? '-' : '+'}${number(Math.abs(megabytes))}`;
const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

async function grown(target: Target, inside: Inside | undefined): Promise<Grown> {
  const alone = await most(target, inside);
  const sockets = await listenAtHead(target, STALLED);
  try {
    for (const socket of sockets) socket.pause();
    const stalled = await most(target, inside);
    const names = target.parts().map(({ name }) => name);
    return {
      heldMb: sum(stalled.held) - sum(alone.held),
      residentMb: stalled.residentMb - alone.residentMb,
      parts: Object.fromEntries(names.map((name, at) => [name, (stalled.held[at] ?? 0) - (alone.held[at] ?? 0)])),
    };
  } finally {
    for (const socket of sockets) socket.close();
  }
}

/** The most that is held while a load is written. */
async function most(
  target: Target,
  inside: Inside | undefined,
): Promise<{ held: readonly number[]; residentMb: number }> {
  const seen: { held: readonly number[]; residentMb: number }[] = [];
  for (let time = 0; time < LOOKS; time += 1) {
    await write(target, ACTIONS / LOOKS);
    const held = (await inside?.heldMb()) ?? [];
    seen.push({ held, residentMb: residentMb(target.parts()) });
  }
  return {
    held: seen.reduce((top, one) => (sum(one.held) > sum(top) ? one.held : top), [] as readonly number[]),
    residentMb: Math.max(...seen.map((one) => one.residentMb)),
  };
}

async function write(target: Target, actions: number): Promise<void> {
  const pool = openClients(target.baseUrl, WRITERS);
  const description = 'x'.repeat(LARGE_BYTES);
  try {
    await inParallel(WRITERS, actions / BATCH, () => mutate(pool, target, BATCH, { description }));
  } finally {
    await pool.close();
  }
}
