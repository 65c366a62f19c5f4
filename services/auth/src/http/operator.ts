import { Fault, operatorApi, type OperatorPersonDetail, type OperatorWorkspace } from '@wts/contracts';
import { mount, mountStream } from '@wts/service-kit/routes';
import type { IRouter } from 'express';
import { pipeline } from 'node:stream/promises';
import { createOwner } from '../commands/create-owner.ts';
import { disablePerson, enablePerson, endSessions, refuseDisabled } from '../commands/disable-person.ts';
import { erasePerson } from '../commands/erase-person.ts';
import { removeSecondFactors } from '../commands/remove-second-factors.ts';
import { addOwner, deleteWorkspace, restoreWorkspace } from '../commands/operate-workspaces.ts';
import { awayCells } from '../directory/gather.ts';
import type { OperatorContext } from '../operator-context.ts';
import type { Account } from '../store/accounts.ts';
import type { PersonalDatum } from '../store/personal-data.ts';
import { cut, pageOf } from './operator-page.ts';
import { operatorGuard, operatorOf, type OperatorCall, type OperatorOptions } from './operator-guard.ts';
import { mountOperatorMoves } from './operator-moves.ts';
import { mountOperatorClients } from './operator-clients.ts';

/** The operations of operators. Each has the guard, and those that change something are in the security record. */
export function mountOperator(router: IRouter, context: OperatorContext): void {
  const options = { authenticate: operatorGuard(context.tokens), idempotency: context.idempotency };
  mountPeople(router, context, options);
  mountAccess(router, context, options);
  mountFactors(router, context, options);
  mountEnd(router, context, options);
  mountWorkspaces(router, context, options);
  mountOperatorMoves(router, context, options);
  mountOperatorClients(router, context, options);
}

function mountPeople(router: IRouter, context: OperatorContext, options: OperatorOptions): void {
  mount(
    router,
    operatorApi.listPeople,
    async ({ query }) => {
      const page = pageOf(query);
      const { found, away } = await context.people.list(page);
      const { items: people, hasMore } = cut(found, page);
      return { ok: true, people, hasMore, ...awayCells(away) };
    },
    options,
  );
  mount(
    router,
    operatorApi.readPerson,
    async ({ params }) => ({ ok: true, person: await personOf(context, params.userId) }),
    options,
  );
  mount(
    router,
    operatorApi.createOwner,
    async (call) => {
      const { account, ...made } = await createOwner(context, call.body, operatorOf(call));
      const link = await linkFor(context, call, { userId: made.userId, account });
      await context.mailOwner(account, { url: link.url, workspaceName: call.body.workspaceName });
      return { ok: true, ...made, link };
    },
    options,
  );
  mount(
    router,
    operatorApi.makeResetLink,
    async (call) => {
      const { userId } = call.params;
      const person = await personOf(context, userId);
      refuseDisabled(person);
      const account = person.account === null ? null : await context.accounts.find(person.account.id);
      if (account === null) throw new Fault('conflict', { message: 'This person has no account with a password.' });
      return { ok: true, link: await linkFor(context, call, { userId, account }) };
    },
    options,
  );
}

/** Who has the link has the account, so each one that is made is in the record. */
async function linkFor(
  { resetLink, record }: OperatorContext,
  call: OperatorCall,
  { userId, account }: { readonly userId: string; readonly account: Account },
): ReturnType<OperatorContext['resetLink']> {
  const link = await resetLink(account);
  const about = { userId, accountId: account.id };
  await record.add({ kind: 'reset-link-made', ...about, ...operatorOf(call), details: {} });
  return link;
}

function mountAccess(router: IRouter, context: OperatorContext, options: OperatorOptions): void {
  const changed =
    (change: typeof disablePerson) => async (call: OperatorCall & { readonly params: { readonly userId: string } }) => {
      const { userId } = await personOf(context, call.params.userId);
      await change(context, userId, operatorOf(call));
      return { ok: true, person: await personOf(context, userId) } as const;
    };
  mount(router, operatorApi.disablePerson, changed(disablePerson), options);
  mount(router, operatorApi.enablePerson, changed(enablePerson), options);
  mount(router, operatorApi.endSessions, changed(endSessions), options);
}

function mountFactors(router: IRouter, context: OperatorContext, options: OperatorOptions): void {
  mount(
    router,
    operatorApi.removeSecondFactors,
    async (call) => {
      const { userId, account } = await personOf(context, call.params.userId);
      await removeSecondFactors(context, { userId, accountId: account?.id ?? null }, operatorOf(call));
      return { ok: true, person: await personOf(context, userId) };
    },
    options,
  );
}

function mountEnd(router: IRouter, context: OperatorContext, options: OperatorOptions): void {
  mountStream(
    router,
    operatorApi.exportPerson,
    async (call) => {
      const { userId } = await personOf(context, call.params.userId);
      await context.record.add({ kind: 'person-exported', userId, ...operatorOf(call), details: {} });
      call.res.setHeader('content-type', 'application/x-ndjson');
      await pipeline(linesOf(context.personalData(userId)), call.res);
    },
    options,
  );
  mount(
    router,
    operatorApi.erasePerson,
    async (call) => {
      const { userId } = await personOf(context, call.params.userId);
      return { ok: true, stays: [...(await erasePerson(context, { userId, ...call.body }, operatorOf(call)))] };
    },
    options,
  );
}

function mountWorkspaces(router: IRouter, context: OperatorContext, options: OperatorOptions): void {
  const { workspaces } = context;
  const find = async (workspaceId: string): Promise<OperatorWorkspace> => {
    const workspace = await workspaces.find(workspaceId);
    if (workspace === null) throw new Fault('not_found');
    return workspace;
  };
  mount(
    router,
    operatorApi.listWorkspaces,
    async ({ query }) => {
      const page = pageOf(query);
      const { found, away } = await workspaces.list(page);
      const { items, hasMore } = cut(found, page);
      return { ok: true, workspaces: items, hasMore, ...awayCells(away) };
    },
    options,
  );
  mount(
    router,
    operatorApi.deleteWorkspace,
    async (call) => {
      const { id: workspaceId } = await find(call.params.workspaceId);
      await deleteWorkspace(context, { workspaceId, ...call.body }, operatorOf(call));
      return { ok: true, workspace: await find(workspaceId) };
    },
    options,
  );
  mount(
    router,
    operatorApi.restoreWorkspace,
    async (call) => {
      const { id: workspaceId } = await find(call.params.workspaceId);
      await restoreWorkspace(context, { workspaceId }, operatorOf(call));
      return { ok: true, workspace: await find(workspaceId) };
    },
    options,
  );
  mount(
    router,
    operatorApi.addOwner,
    async (call) => {
      const { id: workspaceId } = await find(call.params.workspaceId);
      const { userId } = await personOf(context, call.body.userId);
      await addOwner(context, { workspaceId, userId }, operatorOf(call));
      return { ok: true, workspace: await find(workspaceId) };
    },
    options,
  );
  mount(router, operatorApi.readUsage, async () => ({ ok: true, usage: await workspaces.usage() }), options);
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
