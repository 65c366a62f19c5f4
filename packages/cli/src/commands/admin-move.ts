/** Moves of workspaces to other cells, as operators see them. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Call } from '../call.ts';
import { CliFault, usageFault } from '../fault.ts';
import { agoColumn, type View } from '../output/view.ts';
import { openOperator, type OperatorApi } from '../session/operator.ts';
import { allPages } from './admin-pages.ts';
import { workspaceOf } from './admin-workspace.ts';
import { progressOf } from './transfer.ts';

interface Move {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly urlKey: string;
  readonly from: number;
  readonly to: number;
  readonly state: 'moving' | 'moved' | 'given-up';
  readonly step: string;
  readonly records: number;
  readonly problem: string | null;
  readonly createdAt: string;
}

const VIEW: View<Move> = {
  nouns: ['move', 'moves'],
  id: ({ id }) => id,
  columns: [
    { title: 'KEY', value: ({ urlKey }) => urlKey, style: () => 'cyan' },
    { title: 'FROM', value: ({ from }) => from, isRight: true },
    { title: 'TO', value: ({ to }) => to, isRight: true },
    { title: 'STATE', value: ({ state, step }) => (state === 'moving' ? step : state) },
    { title: 'RECORDS', value: ({ records }) => records, isRight: true },
    agoColumn('BEGAN', ({ createdAt }) => createdAt),
    { title: 'PROBLEM', value: ({ problem }) => problem, isCut: true },
    { title: 'ID', value: ({ id }) => id, style: () => 'dim' },
  ],
};

const POLL_MS = 500;
const SHARD = { min: 0, max: 4095 } as const;

export async function moves(call: Call): Promise<void> {
  await call.output.list(await allPages(call, 'moves', VIEW), VIEW);
}

/** Waits for the end; interrupted, the move goes on. */
export async function move(call: Call): Promise<void> {
  const { words, options, output } = call;
  const operator = await openOperator(call);
  const { id: workspaceId, urlKey } = await workspaceOf(operator, words.join(' '));
  const to = options.number('to', SHARD);
  const isCancelled = options.flag('cancel');
  if (isCancelled === (to !== undefined)) throw usageFault('Give --to <cell>, or --cancel.');
  const begun =
    to === undefined
      ? await cancel(operator, workspaceId)
      : (await operator.post<{ move: Move }>(`/workspaces/${workspaceId}/moves`, { to })).move;
  const ended = await follow(call, operator, begun);
  if (ended.state === 'given-up' && !isCancelled)
    throw new CliFault('failed', `${urlKey} stays in cell ${ended.from}: ${ended.problem ?? 'the move was given up'}`);
  const { id, name, from } = ended;
  const where = `${name} (${urlKey})`;
  const line = ended.state === 'moved' ? `Moved ${where} to cell ${ended.to}` : `${where} stays in cell ${from}`;
  await output.changed(ended, { id, key: ended.urlKey, line });
}

async function cancel(operator: OperatorApi, workspaceId: string): Promise<Move> {
  const { moves } = await operator.get<{ moves: readonly Move[] }>('/moves', { limit: 100 });
  const found = moves.find((one) => one.workspaceId === workspaceId && one.state === 'moving');
  if (found === undefined) throw new CliFault('not-found', 'This workspace is not being moved.');
  return (await operator.post<{ move: Move }>(`/moves/${found.id}/cancellation`)).move;
}

async function follow(call: Call, operator: OperatorApi, begun: Move): Promise<Move> {
  using progress = progressOf(call, false);
  let [shown, step, problem] = [begun, '', begun.problem];
  while (shown.state === 'moving') {
    if (shown.step !== step) progress.stage((step = shown.step));
    await sleep(POLL_MS, undefined, { signal: call.signal });
    const { move: next } = await operator.get<{ move: Move }>(`/moves/${begun.id}`);
    progress.advance(next.records - shown.records);
    if (next.problem !== null && next.problem !== problem) progress.note(`It waits: ${next.problem}`);
    problem = next.problem;
    shown = next;
  }
  return shown;
}
