/**
 * `npm run bench [-- --only mutate,live,hop --rounds 3 --seconds 5]`: a system of its own on this machine, one generator,
 * every figure beside a limit or peer measured in the same run. Prints a table and keeps it in `results/`.
 */
import { parseArgs } from 'node:util';
import { startWorld, type World } from '@wts/testkit';
import { keep, machineLine, table, type Row } from './report.ts';
import { hopRows } from './rows/hop.ts';
import { liveRows } from './rows/live.ts';
import { mutateRows } from './rows/mutate.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: 'mutate,live,hop' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
  },
});
const rounds = Math.max(1, Number(values.rounds));
const seconds = Math.max(1, Number(values.seconds));

const parts: Record<string, (world: World) => Promise<Row[]>> = {
  mutate: (world) => mutateRows(world, rounds, seconds),
  live: (world) => liveRows(world, seconds),
  hop: (world) => hopRows(world, rounds, Math.min(seconds, 3)),
};

const wanted = values.only.split(',').map((name) => name.trim());
const unknown = wanted.filter((name) => !(name in parts));
if (unknown.length > 0) {
  process.stderr.write(`No such part: ${unknown.join(', ')}. There are ${Object.keys(parts).join(', ')}.\n`);
  process.exit(1);
}

process.stdout.write(`${machineLine()}\n`);
const rows: Row[] = [];
const world = await startWorld({ label: 'bench', ownPostgres: true, overrides: quiet() });
try {
  for (const name of wanted) {
    process.stdout.write(`measuring ${name} ...\n`);
    rows.push(...((await parts[name]?.(world)) ?? []));
  }
} finally {
  await world.close();
}
process.stdout.write(`\n${table(rows)}\n\n`);
if (wanted.length === Object.keys(parts).length) process.stdout.write(`Kept in ${await keep(rows, 'service')}\n`);

/** Request logs cost the same everywhere and measure the disk. */
function quiet(): Record<string, Record<string, string>> {
  return Object.fromEntries(
    ['gateway', 'sync', 'workspace'].map((name) => [name, { LOG_LEVEL: 'warn', CHECK_REPLIES: 'off' }]),
  );
}
