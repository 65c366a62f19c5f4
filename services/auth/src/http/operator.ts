import { Fault, operatorApi, type OperatorPersonDetail, type OperatorWorkspace } from '@wts/contracts';
import { mountStream } from '@wts/service-kit/routes';
import type { IRouter } from 'express';
import { pipeline } from 'node:stream/promises';
import { createOwner } from '../commands/create-owner.ts';
import { disablePerson, enablePerson, endSessions, refuseDisabled } from '../commands/disable-person.ts';
import { erasePerson } from '../commands/erase-person.ts';
import { removeSecondFactors } from '../commands/remove-second-factors.ts';
import { addOwner, changeWorkspace } from '../commands/operate-workspaces.ts';
import type { OperatorContext } from '../context.ts';
import { awayCells } from '../directory/gather.ts';
import { makeResetLink } from '../links/make-link.ts';
import type { Account } from '../store/accounts.ts';
import type { PersonalDatum } from '../store/personal-data.ts';
import { cut, pageOf } from './operator-page.ts';
import {
  operationMounter,
  operatorGuard,
  operatorOf,
  type MountOperation,
  type OperatorCall,
} from './operator-guard.ts';
import { mountOperatorMoves } from './operator-moves.ts';
import { mountOperatorClients } from './operator-clients.ts';

/** The operations of operators. Each has the guard, and those that change something are in the security record. */
export function mountOperator(router: IRouter, context: OperatorContext): void {
  const mountOperation = operationMounter(router, context);
  mountPeople(mountOperation, context);
  mountOwners(mountOperation, context);
  mountWorkspaces(mountOperation, context);
  mountOperatorMoves(mountOperation, context);
  mountOperatorClients(mountOperation, context);
  mountStream(
    router,
    operatorApi.exportPerson,
    async (call) => {
      const { userId } = await personOf(context, call.params.userId);
      await context.record.add({ kind: 'person-exported', userId, ...operatorOf(call), details: {} });
      call.res.setHeader('content-type', 'application/x-ndjson');
      await pipeline(linesOf(context.personalData(userId)), call.res);
    },
    { authenticate: operatorGuard(context.tokens) },
  );
}

function mountPeople(mountOperation: MountOperation, context: OperatorContext): void {
  mountOperation(operatorApi.listPeople, async ({ query }) => {
    const page = pageOf(query);
    const { found, away } = await context.people.list(page);
    const { items: people, hasMore } = cut(found, page);
    return { ok: true, people, hasMore, ...awayCells(away) };
  });
  mountOperation(operatorApi.readPerson, async ({ params }) => ({
    ok: true,
    person: await personOf(context, params.userId),
  }));
  const changed =
    (change: typeof disablePerson) => async (call: OperatorCall & { readonly params: { readonly userId: string } }) => {
      const { userId } = await personOf(context, call.params.userId);
      await change(context, userId, operatorOf(call));
      return { ok: true, person: await personOf(context, userId) } as const;
    };
  mountOperation(operatorApi.disablePerson, changed(disablePerson));
  mountOperation(operatorApi.enablePerson, changed(enablePerson));
  mountOperation(operatorApi.endSessions, changed(endSessions));
  mountOperation(operatorApi.removeSecondFactors, async (call) => {
    const { userId, account } = await personOf(context, call.params.userId);
    await removeSecondFactors(context, { userId, accountId: account?.id ?? null }, operatorOf(call));
    return { ok: true, person: await personOf(context, userId) };
  });
  mountOperation(operatorApi.erasePerson, async (call) => {
    const { userId } = await personOf(context, call.params.userId);
    return { ok: true, stays: [...(await erasePerson(context, { userId, ...call.body }, operatorOf(call)))] };
  });
}

function mountOwners(mountOperation: MountOperation, context: OperatorContext): void {
  mountOperation(operatorApi.createOwner, async (call) => {
    const { account, ...made } = await createOwner(context, call.body, operatorOf(call));
    const link = await linkFor(context, call, { userId: made.userId, account });
    const data = { url: link.url, workspaceName: call.body.workspaceName };
    await context.mailer.add({ kind: 'account-made', to: account.email, data });
    return { ok: true, ...made, link };
  });
  mountOperation(operatorApi.makeResetLink, async (call) => {
    const { userId } = call.params;
    const person = await personOf(context, userId);
    refuseDisabled(person);
    const account = await context.accounts.find(person.account?.id ?? null);
    if (account === null) throw new Fault('conflict', { message: 'This person has no account with a password.' });
    return { ok: true, link: await linkFor(context, call, { userId, account }) };
  });
}

/** A link to choose a password, for the operator to pass on. Who has it has the account, so each one that is made is in the record. */
async function linkFor(
  context: OperatorContext,
  call: OperatorCall,
  { userId, account }: { readonly userId: string; readonly account: Account },
): Promise<{ readonly url: string; readonly expiresAt: string }> {
  const { url, expiresAt } = await makeResetLink(context, account, 'given');
  const about = { userId, accountId: account.id };
  await context.record.add({ kind: 'reset-link-made', ...about, ...operatorOf(call), details: {} });
  return { url, expiresAt: expiresAt.toISOString() };
}

function mountWorkspaces(mountOperation: MountOperation, context: OperatorContext): void {
  const { workspaces } = context;
  const find = async (workspaceId: string): Promise<OperatorWorkspace> => {
    const workspace = await workspaces.find(workspaceId);
    if (workspace === null) throw new Fault('not_found');
    return workspace;
  };
  mountOperation(operatorApi.listWorkspaces, async ({ query }) => {
    const page = pageOf(query);
    const { found, away } = await workspaces.list(page);
    const { items, hasMore } = cut(found, page);
    return { ok: true, workspaces: items, hasMore, ...awayCells(away) };
  });
  mountOperation(operatorApi.deleteWorkspace, async (call) => {
    const { id } = await find(call.params.workspaceId);
    await changeWorkspace(context, id, { action: 'ARCHIVE', payload: call.body }, operatorOf(call));
    return { ok: true, workspace: await find(id) };
  });
  mountOperation(operatorApi.restoreWorkspace, async (call) => {
    const { id } = await find(call.params.workspaceId);
    await changeWorkspace(context, id, { action: 'UNARCHIVE', payload: {} }, operatorOf(call));
    return { ok: true, workspace: await find(id) };
  });
  mountOperation(operatorApi.addOwner, async (call) => {
    const { id: workspaceId } = await find(call.params.workspaceId);
    const { userId } = await personOf(context, call.body.userId);
    await addOwner(context, { workspaceId, userId }, operatorOf(call));
    return { ok: true, workspace: await find(workspaceId) };
  });
  mountOperation(operatorApi.readUsage, async () => ({ ok: true, usage: await workspaces.usage() }));
}

async function personOf({ people }: OperatorContext, userId: string): Promise<OperatorPersonDetail> {
  const person = await people.find(userId);
  if (person === null) throw new Fault('not_found', { message: 'There is no person with this id.' });
  return person;
}

/** The last line says that the file is whole. */
async function* linesOf(data: AsyncIterable<PersonalDatum>): AsyncGenerator<string> {
  let lines = 0;
  for await (const datum of data) {
    lines += 1;
    yield `${JSON.stringify(datum)}\n`;
  }
  yield `${JSON.stringify({ type: 'end', lines })}\n`;
}
