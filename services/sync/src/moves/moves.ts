import { Fault, formatSyncId, syncApi, type BodyOf, type CopiedRecord, type ReplyOf } from '@wts/contracts';
import { LogReader } from '@wts/log';
import { findModel, isOf, unknownModel, User, WorkspaceMember, type Model, type RecordOf } from '@wts/models';
import type { Pool } from 'pg';
import type { CommitEngine } from '../commit/engine.ts';
import { ownUnit, type LeaveStep, type PutRecord, type PutStep, type UnitOutcome } from '../decision/unit.ts';
import { ofAnotherWorkspace, ofMissingPerson } from '../rules/move-steps.ts';
import { findForeign, findFrozen, findMissingPeople, putFacts } from '../store/copied-facts.ts';
import { changeMove, listMemberships, readMoveState } from '../store/moves.ts';
import { nextState } from './next-state.ts';

type Api = typeof syncApi;
type Answer<Name extends keyof Api> = Omit<ReplyOf<Api[Name]>, 'ok'>;
type Put = BodyOf<Api['internalPutRecords']>;

/** Memberships that end in one commit: each may have entries in hundreds of workspaces of its person. */
const LEAVING_MAX = 20;
/** What is copied besides records, by SQL. */
const FACTS: readonly string[] = ['TaskCounter', 'MembershipLoss'];

/**
 * What a move of a workspace changes here: its state, and records that are put. Everything goes through the engine, so replicas, sockets
 * and the log get it as any change. See infra/decisions/0040-cells.md.
 */
export class Moves {
  readonly #pool: Pool;
  readonly #engine: CommitEngine;
  readonly #log: LogReader;

  constructor(pool: Pool, engine: CommitEngine) {
    this.#pool = pool;
    this.#engine = engine;
    this.#log = new LogReader(pool);
  }

  async setState({
    workspaceId: id,
    state,
    baseUrl = '',
  }: BodyOf<Api['internalSetMoving']>): Promise<Answer<'internalSetMoving'>> {
    const workspaceId = id.toLowerCase();
    let head = await changeMove(this.#pool, workspaceId, (facts) => nextState({ state, baseUrl }, facts));
    await this.#engine.archivedWorkspaces.refresh();
    if (state === 'arriving' && (await readMoveState(this.#pool, workspaceId)) !== 'arriving')
      throw new Fault('unavailable', { message: 'The copy of an earlier move is being deleted; try again shortly' });
    if (state === 'moved') head = (await this.#endMemberships(workspaceId)) ?? head;
    return { lastSyncId: formatSyncId(head) };
  }

  /** In steps, which a repeated call continues. Returns the last position. */
  async #endMemberships(workspaceId: string): Promise<bigint | null> {
    let last: bigint | null = null;
    for (;;) {
      const memberIds = await listMemberships(this.#pool, workspaceId, LEAVING_MAX);
      if (memberIds.length === 0) return last;
      const outcome = await this.#commit({ move: 'moved', memberIds });
      if (!outcome.ok) throw new Fault(outcome.code, { message: outcome.error });
      last = outcome.lastId;
    }
  }

  async put({
    workspaceId: id,
    records,
    keys = [],
    usedGroups = [],
    isCheck,
  }: Put): Promise<Answer<'internalPutRecords'>> {
    const workspaceId = id === null ? null : id.toLowerCase();
    if (workspaceId !== null && (await readMoveState(this.#pool, workspaceId)) !== 'arriving')
      throw new Fault('conflict', { message: 'The workspace does not arrive in this cell' });
    const all = records.filter(({ model }) => !FACTS.includes(model)).map((one) => recordOf(one, workspaceId));
    if (isCheck) return this.#check(workspaceId, all);
    const frozen = all.filter(({ isFrozen }) => isFrozen);
    const equal = workspaceId === null ? new Set() : await findFrozen(this.#pool, workspaceId, frozen);
    const rows = all.filter(({ id, isFrozen }) => !isFrozen || !equal.has(id));
    if (rows.length > 0)
      await this.#putRecords({ move: workspaceId === null ? '' : 'arriving', workspaceId, records: rows });
    if (workspaceId !== null) {
      const facts = records.filter(({ model }) => FACTS.includes(model));
      const isArriving = await putFacts(this.#pool, workspaceId, { facts, keys, usedGroups });
      if (!isArriving) throw new Fault('conflict', { message: 'The workspace does not arrive in this cell any more' });
    }
    return { lastSyncId: formatSyncId((await this.#log.head()).head) };
  }

  /** What `putRecords` would refuse. */
  async #check(workspaceId: string | null, records: readonly PutRecord[]): Promise<Answer<'internalPutRecords'>> {
    for (const [model, ofModel] of Map.groupBy(records, (one) => one.model)) {
      const ids = ofModel.map(({ id }) => id);
      const [foreign] = await findForeign(this.#pool, { model, ids, workspaceId });
      if (foreign !== undefined) throw new Fault('conflict', { message: ofAnotherWorkspace(model, foreign) });
    }
    const userIds = records.flatMap(({ model, record }) => {
      const one = record === null ? null : { model, record };
      return one !== null && isOf(one, WorkspaceMember) ? [one.record.userId] : [];
    });
    const [missing] = await findMissingPeople(this.#pool, userIds);
    if (missing !== undefined) throw new Fault('conflict', { message: ofMissingPerson(missing) });
    return { lastSyncId: formatSyncId((await this.#log.head()).head) };
  }

  /**
   * Two records of which one takes a unique value of the other cannot be written by one statement: then each is put by itself, which
   * deletes the other until its own turn.
   */
  async #putRecords(step: PutStep): Promise<void> {
    const outcome = await this.#commit(step);
    if (outcome.ok) return;
    if (step.records.length === 1) throw new Fault(outcome.code, { message: outcome.error });
    for (const one of step.records) await this.#putRecords({ ...step, records: [one] });
  }

  async #commit(step: PutStep | LeaveStep): Promise<UnitOutcome> {
    const [outcome] = await this.#engine.commit([ownUnit(syncApi.COPY_CLIENT_ID, { step })]);
    if (!outcome) throw new Error('The engine answers every unit');
    return outcome;
  }
}

function recordOf({ model: name, id, groupId, record }: CopiedRecord, workspaceId: string | null): PutRecord {
  const isFrozen = name === 'FrozenPerson';
  const model = isFrozen ? User : findModel(name);
  if (model === undefined) throw invalid(`body/records: ${unknownModel(name)}`);
  if ((model === User && !isFrozen) !== (workspaceId === null))
    throw invalid(`body/records: a ${name} is not put ${workspaceId === null ? 'without' : 'with'} a workspace`);
  if (record !== null && !isOfWorkspace(model, record, { id, workspaceId }))
    throw invalid(`body/records: the ${name} ${id} has another id or workspace than its record`);
  return {
    model,
    id: id.toLowerCase(),
    groupId: groupId.toLowerCase(),
    record: record as RecordOf<Model> | null,
    isFrozen,
  };
}

function isOfWorkspace(
  model: Model,
  record: { readonly [field: string]: unknown },
  { id, workspaceId }: { readonly id: string; readonly workspaceId: string | null },
): boolean {
  return record['id'] === id && (!('workspaceId' in model.fields) || record['workspaceId'] === workspaceId);
}

function invalid(message: string): Fault {
  return new Fault('validation_failed', { message });
}
