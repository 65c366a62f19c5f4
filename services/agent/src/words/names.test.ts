import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Graph } from '../graph/graph.ts';
import { AGENT_LIMITS } from '../limits.ts';
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

/** A graph service with fixed records. Of those with a name that is asked for, it gives a page. */
function names(
  workspaces = [ACME],
  more: readonly object[] = [],
): { names: Names; asked: Asked[]; mostAtOnce: () => number } {
  const asked: Asked[] = [];
  let atOnce = 0;
  let mostAtOnce = 0;
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
      atOnce += 1;
      mostAtOnce = Math.max(mostAtOnce, atOnce);
      await Promise.resolve();
      atOnce -= 1;
      const wanted = filter.or && JSON.stringify(filter.or).toLowerCase();
      const isWanted = (node: object): boolean =>
        textsOf(node).some((text) => wanted?.includes(JSON.stringify(text).toLowerCase()) ?? true);
      const nodes = (lists[operation] ?? []).filter(isWanted);
      const { namesReadMax: max } = AGENT_LIMITS;
      return { found: { nodes: nodes.slice(0, max), pageInfo: { hasNextPage: nodes.length > max } } };
    },
  };
  return { names: new Names(graph as unknown as Graph), asked, mostAtOnce: () => mostAtOnce };
}

/** All texts in a record, at any depth. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

/** A graph service with the first task of each workspace, which has the id of the workspace. */
function graphOf(workspaceIds: readonly string[]): Graph {
  const nodes = workspaceIds.map((workspaceId) => ({ id: workspaceId, number: 1, workspaceId, workspace: null }));
  return {
    run: async (
      _: object,
      { filter }: { filter: { or: [{ id?: { eq: string }; workspaceId?: { eq: string } }] } },
    ) => ({
      tasks: { nodes: nodes.filter(({ id }) => id === (filter.or[0].id ?? filter.or[0].workspaceId)?.eq) },
    }),
  } as unknown as Graph;
}

function people(count: number, name: (index: number) => string): (typeof ALAN)[] {
  return Array.from({ length: count }, (_, index) => ({
    userId: randomUUID(),
    user: { name: name(index), email: `${index}@example.com`, username: null },
  }));
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
    const { names: found } = names(
      [ACME],
      people(100, (index) => `Person ${index}`),
    );
    assert.equal(await found.person('Ada Lovelace', ACME), ADA.userId);
    await assert.rejects(
      found.person('Ada', ACME),
      refusal(/only whole names are found; the nearest of the first 100/),
    );
  });

  it('that more records have than could be read are of none of them, and keep no other name from being found', async () => {
    const [john, ...others] = people(120, () => 'John');
    assert.ok(john);
    const { names: found } = names([ACME], [john, ...others, ...people(1, () => 'JOHN')]);
    const [one, other, byId] = await Promise.allSettled([
      found.person('JOHN', ACME),
      found.person('Alan Kay', ACME),
      found.person(others.at(-1)?.userId ?? '', ACME),
    ]);
    assert.ok(one.status === 'rejected');
    assert.match(String(one.reason), /"JOHN" may be any of these.* and more than could be read\. Use the id\./);
    assert.deepEqual(other, { status: 'fulfilled', value: ALAN_2.userId });
    assert.deepEqual(byId, { status: 'fulfilled', value: others.at(-1)?.userId });
    const { names: many, asked, mostAtOnce } = names([ACME], others);
    const { namesOfCallMax, namesOfRequestMax } = AGENT_LIMITS;
    const johns = ['john', 'johN', 'joHn', 'joHN', 'jOhn', 'jOhN', 'jOHn', 'jOHN', 'John', 'JohN'];
    const words = Array.from({ length: namesOfCallMax }, (_, index) =>
      index % namesOfRequestMax === 0 ? (johns[index / namesOfRequestMax] as string) : `unknown ${index}`,
    );
    await Promise.allSettled(words.map((word) => many.person(word, ACME)));
    assert.ok(asked.length > namesOfCallMax);
    assert.equal(mostAtOnce(), namesOfCallMax / namesOfRequestMax);
    const { names: everywhere } = names(
      [ACME, GLOBEX],
      Array.from({ length: 120 }, () => john),
    );
    await assert.rejects(everywhere.person('john', null), refusal(/more than could be read/));
    assert.equal(await everywhere.person(john.userId, null), john.userId);
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

  it('in one call are a bounded number of different ones', async () => {
    const { names: found, asked } = names();
    const { namesOfCallMax: max } = AGENT_LIMITS;
    for (let n = 0; n < max + 1; n += 1) await found.project('WEB', ACME);
    const words = Array.from({ length: max + 9 }, (_, index) => `unknown ${index}`);
    const outcomes = await Promise.allSettled(words.map((word) => found.label(word, ACME)));
    const refused = outcomes.filter(
      (one) => one.status === 'rejected' && /at most 150 different/.test(String(one.reason)),
    );
    assert.equal(refused.length, 10);
    assert.ok(asked.length <= 2 + max / AGENT_LIMITS.namesOfRequestMax, `${asked.length} requests`);
    assert.equal(await found.project('WEB', ACME), WEB.id);
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
    assert.equal((await taskOf(ACME.id, 'acme', context)).id, ACME.id);
    await assert.rejects(taskOf(ACME.id, other.id, context), refusal(/^The task .* is not in the workspace ".*Leave/));
    await assert.rejects(taskOf(ACME.id, 'initech', context), refusal(/No workspace is named "initech"/));
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
