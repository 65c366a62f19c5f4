/**
 * `npm run bench [-- --only mutate,live,hop --peer --rounds 3 --seconds 5 --full]`: a system of its own on this machine, one
 * generator, every figure beside a limit or peer measured in the same run. Prints a table and keeps it in `results/`.
 *
 * `--peer` installs and runs Strata's server beside ours (`peers/README.md`). `--full` lets cost grow to a million tasks.
 */
import { parseArgs } from 'node:util';
import { startWorld } from '@wts/testkit';
import { doorOf } from './door.ts';
import { openPeer } from './peer.ts';
import { keep, machineLine, table, type Row } from './report.ts';
import { bootstrapRows } from './rows/bootstrap.ts';
import { deltaRows } from './rows/deltas.ts';
import { fanoutRows, stalledRows } from './rows/fanout.ts';
import { FULL, measureGrowth, QUICK } from './rows/growth.ts';
import { hopRows } from './rows/hop.ts';
import { liveRows } from './rows/live.ts';
import { missingRows } from './rows/missing.ts';
import { mutateRows } from './rows/mutate.ts';

const PARTS = ['mutate', 'missing', 'live', 'hop', 'fanout', 'stalled', 'bootstrap', 'deltas', 'growth'] as const;
type Part = (typeof PARTS)[number];

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: PARTS.join(',') },
    peer: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
  },
});
const rounds = Math.max(1, Number(values.rounds));
const seconds = Math.max(1, Number(values.seconds));
const BOOTSTRAP_TASKS = 20_000;
const LOG_ENTRIES = values.full ? 2_000_000 : 200_000;

const wanted = values.only.split(',').map((name) => name.trim());
const unknown = wanted.filter((name) => !(PARTS as readonly string[]).includes(name));
if (unknown.length > 0) {
  process.stderr.write(`No such part: ${unknown.join(', ')}. There are ${PARTS.join(', ')}.\n`);
  process.exit(1);
}

process.stdout.write(`${machineLine()}\n`);
const rows: Row[] = [];
for (const part of PARTS.filter((name) => wanted.includes(name))) {
  process.stdout.write(`measuring ${part} ...\n`);
  rows.push(...(await measure(part)));
}
if (rows.length > 0) process.stdout.write(`\n${table(rows)}\n\n`);
if (wanted.length === PARTS.length) process.stdout.write(`Kept in ${await keep(rows, 'service')}\n`);

/** Each part in a system of its own, so that none is measured on what another left behind. */
async function measure(part: Part): Promise<Row[]> {
  await using world = await startWorld({ label: 'bench', ownPostgres: true, overrides: quiet() });
  const ours = doorOf(world);
  await using peer = values.peer ? await openPeer(world) : null;
  const parts: Record<Part, () => Promise<Row[]>> = {
    mutate: () => mutateRows(world, peer, rounds, seconds),
    missing: () => missingRows(world, peer, ours, seconds),
    live: () => liveRows(world, seconds),
    hop: () => hopRows(world, rounds, Math.min(seconds, 3)),
    fanout: () => fanoutRows(ours, peer),
    stalled: () => stalledRows(ours, peer),
    bootstrap: () => bootstrapRows(ours, peer, BOOTSTRAP_TASKS, rounds),
    deltas: () => deltaRows(world, ours, LOG_ENTRIES, seconds),
    growth: async () => {
      process.stdout.write(`${await measureGrowth(world, ours, values.full ? FULL : QUICK, seconds)}\n`);
      return [];
    },
  };
  return await parts[part]();
}

/** Request logs cost the same everywhere and measure the disk. */
function quiet(): Record<string, Record<string, string>> {
  return Object.fromEntries(['gateway', 'sync', 'workspace'].map((name) => [name, { LOG_LEVEL: 'warn' }]));
}
