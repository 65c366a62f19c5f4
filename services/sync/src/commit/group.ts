import { randomUUID } from 'node:crypto';
import { LIMITS, type ActionChunk, type LogAction } from '@wts/contracts';
import { modelNamed, MODELS, type Model } from '@wts/models';
import type { Pool, PoolClient, QueryResult } from 'pg';
import { appendSql, type NewEntry, type NewKey } from '../store/log.ts';
import { literal } from '../store/literal.ts';
import { questionsOf } from '../store/needs.ts';
import { deleteRowsSql, insertRowsSql, updateRowsSql } from '../store/rows.ts';
import { decide, type Decision } from './decide.ts';
import { foreseenNeeds } from './foresee.ts';
import type { Refusal } from './refusal.ts';
import type { Effect, Unit } from './unit.ts';
import { TooMuch, Unread, World, type Need } from './world.ts';

/*
 * One group of units in one transaction, usually two round trips:
 *   1. BEGIN, look up idempotency keys, lock and read the rows that the mutations name;
 *   2. write the rows, take the log's lock, append the entries, COMMIT.
 * Between the two the rules decide in memory. When they ask for what was not read, all that the group misses is read under
 * lock in one more round, and everything is decided again.
 *
 * The keys of its units are looked up first and written with it: keeps sync.mutate.idempotent and never.applied-twice.
 */

const Workspace = modelNamed('Workspace');

export interface Replay {
  readonly lastId: bigint;
  readonly mainIds: readonly bigint[];
}

/** What the group made of a unit; places become known when the whole group has its own. */
export type GroupOutcome =
  | {
      readonly kind: 'applied';
      readonly lastId: bigint;
      readonly mains: readonly { readonly syncId: bigint; readonly effect: Effect | null }[];
    }
  | { readonly kind: 'replayed'; readonly replay: Replay }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

export interface GroupResult {
  readonly outcomes: readonly GroupOutcome[];
  readonly chunk: ActionChunk | null;
}

type Decided =
  | {
      readonly kind: 'applied';
      readonly effects: readonly Effect[];
      readonly mains: readonly { effect: Effect | null; replayOf: bigint | undefined }[];
    }
  | { readonly kind: 'same'; readonly as: number }
  | { readonly kind: 'replayed'; readonly replay: Replay }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/** Rounds of reading before the group gives up: a cascade needs one for each level. */
const READ_ROUNDS_MAX = 24;

/**
 * Locks of a later round are taken out of order, so a wait may be a circle. PostgreSQL would find that out after a second;
 * a wait this long is given up, and the next try takes all that was learned in order.
 */
const LATER_LOCK_TIMEOUT_MS = 100;

/** `learned` is filled with what had to be read besides the foreseen, for the next try if there is one. */
export async function commitGroup(client: PoolClient, units: readonly Unit[], learned: Need[]): Promise<GroupResult> {
  const now = new Date().toISOString();
  const world = new World();
  const replays = new Map<string, Replay>();
  let needs: readonly Need[] = [...foreseenNeeds(units), ...learned];
  // Who may do what is looked at without lock. When it was waited for locks after that, somebody may have been let in
  // meanwhile, so before anything is refused it is looked at again.
  const looks: Need[] = [];
  // Said aloud: under any other level, waiting for a lock would end in an error and not in the newer row.
  let opening = `begin isolation level read committed; ${replaysSql(units)}`;
  for (let round = 0; ; round += 1) {
    const questions = questionsOf(needs);
    const answers = await several(client, [opening, ...questions.map(({ sql }) => sql)].join(';\n'));
    if (round === 0) keepReplays(replays, answers[1]?.rows ?? []);
    const offset = answers.length - questions.length;
    for (const [index, question] of questions.entries()) question.take(answers[offset + index]?.rows ?? [], world);
    opening = `set local lock_timeout = ${LATER_LOCK_TIMEOUT_MS}`;
    const isStale = round > 0 && needs !== looks;
    looks.push(...(needs === looks ? [] : needs.filter((need) => need.kind === 'related' && need.lock === 'look')));
    const { decided, missing } = decideAll(world, units, replays, now);
    const isCertain = !isStale || decided.every(({ kind }) => kind !== 'refused');
    if (missing.length === 0 && isCertain) return write(client, world, units, decided, now);
    if (round === READ_ROUNDS_MAX) throw new TooMuch('This reaches through too many levels of records');
    needs = missing.length === 0 ? looks : missing;
    learned.push(...missing);
  }
}

/**
 * Decides every unit in order. What a unit needs and nobody has read yet is noted, and the others are decided all the
 * same, to learn what they need; only without anything missing do the decisions count.
 */
function decideAll(
  world: World,
  units: readonly Unit[],
  replays: ReadonlyMap<string, Replay>,
  now: string,
): { decided: Decided[]; missing: Need[] } {
  world.startAgain();
  const missing: Need[] = [];
  const seen = new Map<string, number>();
  const decided: Decided[] = [];
  for (const [index, unit] of units.entries()) {
    const name = keyOf(unit.principal.userId, unit.clientId, unit.clientTxId);
    const replay = replays.get(name);
    const twin = seen.get(name);
    if (replay) decided.push({ kind: 'replayed', replay });
    else if (twin === undefined) decided.push(decideUnit(world, unit, now, missing));
    else decided.push({ kind: 'same', as: twin });
    // A refused first try is no result to repeat: the twin gets its own.
    if (twin === undefined && decided[index]?.kind !== 'refused') seen.set(name, index);
  }
  const effects = decided.reduce((sum, one) => sum + (one.kind === 'applied' ? one.effects.length : 0), 0);
  if (effects > LIMITS.cascadeActionsMax) {
    throw new TooMuch(`This changes more than ${LIMITS.cascadeActionsMax} records; do it in smaller steps`);
  }
  return { decided, missing };
}

function decideUnit(world: World, unit: Unit, now: string, missing: Need[]): Decided {
  const effects: Effect[] = [];
  const mains: { effect: Effect | null; replayOf: bigint | undefined }[] = [];
  const outcome = world.attempt(() => {
    for (const mutation of unit.mutations) {
      const decision = orMissing(missing, () => decide(world, unit, mutation, now));
      if (decision === null) continue;
      if (!decision.ok) return decision;
      for (const effect of decision.effects) effects.push(effect);
      mains.push({ effect: decision.main, replayOf: decision.replayOf });
    }
    return { ok: true as const };
  });
  return outcome.ok ? { kind: 'applied', effects, mains } : { kind: 'refused', refusal: outcome };
}

/** The decision, or null when something must be read for it. */
function orMissing(missing: Need[], decision: () => Decision): Decision | null {
  try {
    return decision();
  } catch (error) {
    if (!(error instanceof Unread)) throw error;
    missing.push(...error.needs);
    return null;
  }
}

async function write(
  client: PoolClient,
  world: World,
  units: readonly Unit[],
  decided: readonly Decided[],
  now: string,
): Promise<GroupResult> {
  const entries: (NewEntry & { effect: Effect })[] = [];
  const keys: NewKey[] = [];
  const offsets = new Map<Effect, number>();
  for (const [index, unit] of units.entries()) {
    const one = decided[index];
    if (one?.kind !== 'applied' || one.effects.length === 0) continue;
    for (const effect of one.effects) {
      offsets.set(effect, entries.length + 1);
      entries.push(entryOf(effect, unit, entries.length + 1));
    }
    const last = entries.length;
    keys.push({
      userId: unit.principal.userId,
      clientId: unit.clientId,
      clientTxId: unit.clientTxId,
      last,
      mains: one.mains.map(({ effect, replayOf }) => (effect ? (offsets.get(effect) ?? last) : (replayOf ?? last))),
    });
  }
  if (entries.length === 0) {
    await client.query('rollback');
    return { outcomes: outcomesOf(decided, offsets, 0n), chunk: null };
  }
  const statements = [
    'set local lock_timeout to default',
    ...writesSql(world),
    appendSql(entries, keys, now),
    'commit',
  ];
  const results = await several(client, statements.join(';\n'));
  const appended = results.at(-2)?.rows[0] as { head: string; epoch: string };
  const head = BigInt(appended.head);
  return { outcomes: outcomesOf(decided, offsets, head), chunk: chunkOf(entries, head, now, appended.epoch) };
}

function writesSql(world: World): string[] {
  const { inserts, updates, deletes } = world.writes();
  const statements: string[] = [];
  // Deletes first: a record may go and another take its unique values within one group.
  for (const model of (MODELS as readonly Model[]).toReversed()) {
    const ids = deletes.get(model);
    if (ids) statements.push(deleteRowsSql(model, ids));
  }
  for (const model of MODELS as readonly Model[]) {
    const updated = updates.get(model);
    if (updated) statements.push(updateRowsSql(model, updated));
    const inserted = inserts.get(model);
    if (inserted) statements.push(insertRowsSql(model, inserted));
  }
  // A workspace begins with its counter: with nothing to lock, its first tasks would all take the same number.
  const counters = new Map([
    ...(inserts.get(Workspace) ?? []).map(({ id }): [string, number] => [id, 0]),
    ...world.newNumbers(),
  ]);
  const numbers = [...counters].map(([workspaceId, last]) => `('${workspaceId}'::uuid, ${last})`);
  if (numbers.length > 0) {
    statements.push(
      `insert into sync.task_counters as c (workspace_id, last_number) values ${numbers.join(',')} on conflict (workspace_id) do update set last_number = excluded.last_number`,
    );
  }
  const audiences = world.newAudiences().map(([userId, groupId]) => `('${userId}'::uuid, '${groupId}'::uuid)`);
  if (audiences.length > 0)
    statements.push(
      `insert into sync.user_audiences (user_id, group_id) values ${audiences.join(',')} on conflict do nothing`,
    );
  return statements;
}

function outcomesOf(decided: readonly Decided[], offsets: ReadonlyMap<Effect, number>, head: bigint): GroupOutcome[] {
  const place = (effect: Effect): bigint => head + BigInt(offsets.get(effect) ?? 0);
  const outcome = (one: Decided): GroupOutcome => {
    if (one.kind === 'same') return outcome(decided[one.as] as Decided);
    if (one.kind !== 'applied') return one;
    const mains = one.mains.map(({ effect, replayOf }) => ({
      effect,
      syncId: effect ? place(effect) : (replayOf ?? 0n),
    }));
    const last = one.effects.at(-1);
    return {
      kind: 'applied',
      mains,
      lastId: last ? place(last) : mains.reduce((max, { syncId }) => (syncId > max ? syncId : max), 0n),
    };
  };
  return decided.map(outcome);
}

function entryOf(effect: Effect, unit: Unit, offset: number): NewEntry & { effect: Effect } {
  return {
    effect,
    offset,
    eventId: randomUUID(),
    workspaceId: effect.workspaceId,
    groupId: effect.groupId,
    modelName: effect.model.name,
    modelId: effect.id,
    action: effect.action,
    record: effect.text,
    data: effect.data,
    changed: effect.changed,
    actorId: unit.principal.userId,
    clientId: unit.clientId,
    clientTxId: unit.clientTxId,
  };
}

function chunkOf(
  entries: readonly (NewEntry & { effect: Effect })[],
  head: bigint,
  createdAt: string,
  epoch: string,
): ActionChunk {
  const actions = entries.map((entry): LogAction => {
    const { record } = entry.effect;
    return {
      syncId: (head + BigInt(entry.offset)).toString(),
      modelName: entry.modelName,
      modelId: entry.modelId,
      action: entry.action,
      data: entry.data === null ? record : (JSON.parse(entry.data) as { [field: string]: unknown }),
      groupId: entry.groupId,
      clientTxId: entry.clientTxId,
      clientId: entry.clientId,
      createdAt,
      eventId: entry.eventId,
      workspaceId: entry.workspaceId,
      actorId: entry.actorId,
      record,
      changed: entry.changed,
    };
  });
  return {
    epoch,
    prev: head.toString(),
    first: (head + 1n).toString(),
    last: (head + BigInt(entries.length)).toString(),
    actions,
  };
}

function keyOf(userId: string, clientId: string, clientTxId: string): string {
  return JSON.stringify([userId, clientId, clientTxId]);
}

/** What is known of these units by now; undefined where nothing is. */
export async function findReplays(pool: Pool, units: readonly Unit[]): Promise<(Replay | undefined)[]> {
  const replays = new Map<string, Replay>();
  keepReplays(replays, (await pool.query(replaysSql(units))).rows);
  return units.map(({ principal, clientId, clientTxId }) => replays.get(keyOf(principal.userId, clientId, clientTxId)));
}

function replaysSql(units: readonly Unit[]): string {
  const asked = units.map(({ principal, clientId, clientTxId }) => ({
    u: principal.userId,
    x: clientId,
    t: clientTxId,
  }));
  // LIMIT keeps the planner from reading the whole table of keys for a join: each is looked up by the primary key.
  return `select k.* from json_to_recordset(${literal(JSON.stringify(asked))}) as s(u uuid, x text, t text),
    lateral (select user_id, client_id, client_tx_id, last_id::text, main_ids::text[] from sync.idempotency_keys
      where user_id = s.u and client_id = s.x and client_tx_id = s.t limit 1) k`;
}

function keepReplays(replays: Map<string, Replay>, rows: readonly unknown[]): void {
  for (const row of rows as {
    user_id: string;
    client_id: string;
    client_tx_id: string;
    last_id: string;
    main_ids: string[];
  }[]) {
    replays.set(keyOf(row.user_id, row.client_id, row.client_tx_id), {
      lastId: BigInt(row.last_id),
      mainIds: row.main_ids.map(BigInt),
    });
  }
}

/** Several statements in one message: their results in order. */
async function several(client: PoolClient, sql: string): Promise<QueryResult[]> {
  const results = (await client.query(sql)) as unknown as QueryResult | QueryResult[];
  return Array.isArray(results) ? results : [results];
}
