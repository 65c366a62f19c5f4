import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Graph } from '../graph/graph.ts';
import { ToolError } from '../tool-error.ts';
import { Names } from './names.ts';
import { taskOf } from './tasks.ts';

const ACME = { id: randomUUID(), name: 'Acme', urlKey: 'acme', role: 'owner' };
const GLOBEX = { id: randomUUID(), name: 'Globex', urlKey: 'globex', role: 'guest' };
const WEB = { id: randomUUID(), key: 'WEB', name: 'Website' };
const web = { id: randomUUID(), key: 'W2', name: 'website' };
const APP = { id: randomUUID(), key: 'APP', name: 'Mobile app' };
const ADA = { userId: randomUUID(), user: { name: 'Ada Lovelace', email: 'ada@example.com', username: 'countess' } };
const ALAN = { userId: randomUUID(), user: { name: 'Alan Turing', email: 'alan@example.com', username: null } };
const ALAN_2 = { userId: randomUUID(), user: { name: 'Alan Kay', email: null, username: null } };
const ME = randomUUID();

interface Asked {
  readonly operation: string;
  readonly filter: { readonly or?: readonly object[]; readonly workspaceId?: object };
}

/** A graph service with fixed records, which gives all of them: the names are compared again. */
function names(workspaces = [ACME], more: readonly object[] = []): { names: Names; asked: Asked[] } {
  const asked: Asked[] = [];
  const lists: Readonly<Record<string, readonly object[]>> = {
    AgentProjectNames: [WEB, web, APP],
    AgentMemberNames: [ADA, ALAN, ALAN_2, ...more],
    AgentLabelNames: [],
  };
  const graph = {
    caller: { principal: { userId: ME } },
    run: async ({ text }: { text: string }, { filter }: { filter: Asked['filter'] }) => {
      const [, operation = ''] = /query (\w+)/.exec(text) ?? [];
      if (operation === 'AgentWorkspaces') return { myWorkspaces: workspaces };
      asked.push({ operation, filter });
      return { found: { nodes: lists[operation] } };
    },
  };
  return { names: new Names(graph as unknown as Graph), asked };
}

/** A graph service with the first task of each workspace. */
function graphOf(workspaceIds: readonly string[]): Graph {
  const nodes = workspaceIds.map((workspaceId) => ({ id: workspaceId, number: 1, workspaceId, workspace: null }));
  return {
    run: async (_: object, { filter }: { filter: { or: [{ workspaceId: { eq: string } }] } }) => ({
      tasks: { nodes: nodes.filter(({ workspaceId }) => workspaceId === filter.or[0].workspaceId.eq) },
    }),
  } as unknown as Graph;
}

const refusal = (pattern: RegExp) => (error: unknown) => error instanceof ToolError && pattern.test(error.message);

describe('names', () => {
  it('are ids, keys and names in any capitals, the exact one first', async () => {
    const { names: found } = names();
    for (const word of ['WEB', 'web', 'Website', WEB.id, WEB.id.toUpperCase()]) {
      assert.equal(await found.project(word, ACME), WEB.id, word);
    }
    assert.equal(await found.project('website', ACME), web.id);
    assert.equal(await found.project('MOBILE APP', ACME), APP.id);
  });

  it('of people are first names, user names, addresses and "me" too', async () => {
    const { names: found } = names();
    for (const word of ['Ada', 'ada lovelace', 'LOVELACE', 'ada@example.com', '@countess', ADA.userId]) {
      assert.equal(await found.person(word, ACME), ADA.userId, word);
    }
    assert.equal(await found.person('Me', ACME), ME);
  });

  it('of people are whole names only where not all people could be compared', async () => {
    const others = Array.from({ length: 100 }, (_, index) => ({
      userId: randomUUID(),
      user: { name: `Person ${index}`, email: null, username: null },
    }));
    const { names: found } = names([ACME], others);
    assert.equal(await found.person('Ada Lovelace', ACME), ADA.userId);
    await assert.rejects(found.person('Ada', ACME), ToolError);
  });

  it('that may be several are refused with their ids', async () => {
    const { names: found } = names();
    await assert.rejects(found.project('WEBSITE', ACME), refusal(new RegExp(`${WEB.id}.*${web.id}.*Use the id`)));
    await assert.rejects(found.person('alan', ACME), refusal(new RegExp(`Alan Turing.*${ALAN.userId}.*Alan Kay`)));
  });

  it('that are unknown are refused with the nearest and the tool that lists all', async () => {
    const { names: found } = names();
    await assert.rejects(
      found.project('mobil ap', ACME),
      refusal(
        /^No project is named "mobil ap" in the workspace "Acme"\. The nearest are "Mobile app" \(APP\).*list_projects/,
      ),
    );
    await assert.rejects(found.label('urgent', ACME), refusal(/There is none\. list_labels/));
    await assert.rejects(found.project(randomUUID(), ACME), ToolError);
    for (const word of ['__proto__', 'constructor', 'toString', '%', '*']) {
      await assert.rejects(found.project(word, ACME), refusal(/^No project/), word);
    }
  });

  it('of one moment are one request, in requests of bounded size', async () => {
    const { names: found, asked } = names();
    await Promise.all(Array.from({ length: 40 }, () => found.project('WEB', ACME)));
    assert.equal(asked.length, 1);
    const words = Array.from({ length: 40 }, (_, index) => `unknown ${index}`);
    await Promise.allSettled(words.map((word) => found.project(word, ACME)));
    // Three for forty words, and one for the nearest names.
    assert.equal(asked.length, 5);
    assert.ok(asked.every(({ filter }) => (filter.or ?? []).length <= 30));
    assert.ok(asked.every(({ filter }) => filter.workspaceId !== undefined));
  });

  it('of a person who shares several workspaces are one person', async () => {
    const { names: found } = names([ACME, GLOBEX], [ADA]);
    for (const word of [ADA.userId, 'Ada Lovelace', 'ada']) {
      assert.equal(await found.person(word, null), ADA.userId, word);
    }
  });

  it('of a workspace are its key before the names of others, and only its key in the key of a task', async () => {
    const other = { ...GLOBEX, name: 'acme' };
    const { names: found } = names([other, ACME]);
    assert.equal((await found.workspace('ACME')).id, ACME.id);
    const context = { graph: graphOf([ACME.id, other.id]), names: found };
    assert.equal((await taskOf('ACME-1', undefined, context)).workspaceId, ACME.id);
    assert.equal((await taskOf('globex-1', other.id, context)).workspaceId, other.id);
    await assert.rejects(taskOf('ACME-1', 'globex', context), refusal(/key ACME is not in the workspace "globex"/));
    const named = { ...context, names: names([{ ...GLOBEX, name: 'Initech' }]).names };
    await assert.rejects(taskOf('INITECH-1', undefined, named), refusal(/in no workspace with the key "INITECH"/));
  });

  it('of a workspace may be left out when there is one, and are asked for otherwise', async () => {
    assert.equal((await names().names.workspace(undefined)).id, ACME.id);
    const { names: both } = names([ACME, GLOBEX]);
    assert.equal((await both.workspace('GLOBEX')).id, GLOBEX.id);
    assert.equal(await both.workspaceOrAll(undefined), null);
    await assert.rejects(both.workspace(undefined), refusal(/"Acme" \(acme\), "Globex" \(globex\)/));
    await assert.rejects(both.workspace('initech'), refusal(/No workspace is named "initech".*list_workspaces/));
    await assert.rejects(names([]).names.workspace(undefined), refusal(/in no workspace/));
  });
});
