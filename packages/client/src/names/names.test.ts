import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { NAME_LIMITS } from './limits.ts';
import { NameError } from './name-error.ts';
import { Names, type NamesOptions } from './names.ts';
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

const LISTED_BY = {
  workspace: 'list_workspaces',
  project: 'list_projects',
  team: 'list_teams',
  label: 'list_labels',
  person: 'list_members',
  task: 'find_tasks',
};

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
    ProjectNames: [WEB, web, APP],
    WorkspaceMemberNames: [ADA, ALAN, ALAN_2, ...more],
    LabelNames: [],
  };
  const run = async (query: string, { filter }: { filter: Asked['filter'] & { or: readonly TaskFilter[] } }) => {
    const [, operation = ''] = /query (\w+)/.exec(query) ?? [];
    if (operation === 'WorkspaceNames') return { myWorkspaces: workspaces };
    if (operation === 'TaskNames') return { tasks: { nodes: workspaces.map(firstTask).filter(isOneOf(filter.or)) } };
    asked.push({ operation, filter });
    atOnce += 1;
    mostAtOnce = Math.max(mostAtOnce, atOnce);
    await Promise.resolve();
    atOnce -= 1;
    const wanted = filter.or && JSON.stringify(filter.or).toLowerCase();
    const isWanted = (node: object): boolean =>
      textsOf(node).some((text) => wanted?.includes(JSON.stringify(text).toLowerCase()) ?? true);
    const nodes = (lists[operation] ?? []).filter(isWanted);
    const { readMax: max } = NAME_LIMITS;
    return { found: { nodes: nodes.slice(0, max), pageInfo: { hasNextPage: nodes.length > max } } };
  };
  return {
    names: new Names({ run: run as NamesOptions['run'], userId: ME, listedBy: LISTED_BY }),
    asked,
    mostAtOnce: () => mostAtOnce,
  };
}

/** All texts in a record, at any depth. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

interface TaskFilter {
  readonly id?: { readonly eq: string };
  readonly workspaceId?: { readonly eq: string };
}

interface TaskNode {
  readonly id: string;
  readonly workspaceId: string;
}

/** The first task of a workspace, which has the id of the workspace. */
function firstTask({ id }: { readonly id: string }): TaskNode {
  return { id, workspaceId: id, number: 1, workspace: null } as TaskNode;
}

const isOneOf =
  (filters: readonly TaskFilter[]) =>
  ({ id }: TaskNode): boolean =>
    filters.some((filter) => (filter.id ?? filter.workspaceId)?.eq === id);

function people(count: number, name: (index: number) => string): (typeof ALAN)[] {
  return Array.from({ length: count }, (_, index) => ({
    userId: randomUUID(),
    user: { name: name(index), email: `${index}@example.com`, username: null },
  }));
}

const refusal = (pattern: RegExp) => (error: unknown) => error instanceof NameError && pattern.test(error.message);

describe('names', () => {
  it('are ids, keys and names in any capitals, the exact one first', async () => {
    const { names: found } = names();
    for (const word of ['WEB', 'web', 'Website', WEB.id, WEB.id.toUpperCase()])
      assert.equal(await found.project(word, ACME), WEB.id, word);
    assert.equal(await found.project('website', ACME), web.id);
    assert.equal(await found.project('MOBILE APP', ACME), APP.id);
  });

  it('of people are first names, user names, addresses and "me" too', async () => {
    const { names: found } = names();
    for (const word of ['Ada', 'ada lovelace', 'LOVELACE', 'ada@example.com', '@countess', ADA.userId])
      assert.equal(await found.person(word, ACME), ADA.userId, word);
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
    const { foundMax, ofRequestMax } = NAME_LIMITS;
    const johns = ['john', 'johN', 'joHn', 'joHN', 'jOhn', 'jOhN', 'jOHn', 'jOHN', 'John', 'JohN'];
    const words = Array.from({ length: foundMax }, (_, index) =>
      index % ofRequestMax === 0 ? (johns[index / ofRequestMax] as string) : `unknown ${index}`,
    );
    await Promise.allSettled(words.map((word) => many.person(word, ACME)));
    assert.ok(asked.length > foundMax);
    assert.equal(mostAtOnce(), foundMax / ofRequestMax);
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

  it('that are unknown are refused with the nearest and what lists all', async () => {
    const { names: found } = names();
    await assert.rejects(
      found.project('mobil ap', ACME),
      refusal(
        /^No project is named "mobil ap" in the workspace "Acme"\. The nearest are "Mobile app" \(APP\).*list_projects/,
      ),
    );
    await assert.rejects(found.label('urgent', ACME), refusal(/There is none\. list_labels/));
    await assert.rejects(found.project(randomUUID(), ACME), NameError);
    for (const word of ['__proto__', 'constructor', 'toString', '%', '*'])
      await assert.rejects(found.project(word, ACME), refusal(/^No project/), word);
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
    const { foundMax: max } = NAME_LIMITS;
    for (let n = 0; n < max + 1; n += 1) await found.project('WEB', ACME);
    const words = Array.from({ length: max + 9 }, (_, index) => `unknown ${index}`);
    const outcomes = await Promise.allSettled(words.map((word) => found.label(word, ACME)));
    const refused = outcomes.filter(
      (one) => one.status === 'rejected' && /at most 150 different/.test(String(one.reason)),
    );
    assert.equal(refused.length, 10);
    assert.ok(asked.length <= 2 + max / NAME_LIMITS.ofRequestMax, `${asked.length} requests`);
    assert.equal(await found.project('WEB', ACME), WEB.id);
  });

  it('of a person who shares several workspaces are one person', async () => {
    const { names: found } = names([ACME, GLOBEX], [ADA]);
    for (const word of [ADA.userId, 'Ada Lovelace', 'ada'])
      assert.equal(await found.person(word, null), ADA.userId, word);
  });

  it('of a workspace are its key before the names of others, and only its key in the key of a task', async () => {
    const other = { ...GLOBEX, name: 'acme' };
    const { names: found } = names([other, ACME]);
    assert.equal((await found.workspace('ACME')).id, ACME.id);
    assert.equal((await taskOf('ACME-1', undefined, found)).workspaceId, ACME.id);
    assert.equal((await taskOf('globex-1', other.id, found)).workspaceId, other.id);
    await assert.rejects(taskOf('ACME-1', 'globex', found), refusal(/key ACME is not in the workspace "globex"/));
    assert.equal((await taskOf(ACME.id, 'acme', found)).id, ACME.id);
    await assert.rejects(taskOf(ACME.id, other.id, found), refusal(/^The task .* is not in the workspace ".*Leave/));
    await assert.rejects(taskOf(ACME.id, 'initech', found), refusal(/No workspace is named "initech"/));
    const { names: named } = names([{ ...GLOBEX, name: 'Initech' }]);
    await assert.rejects(taskOf('INITECH-1', undefined, named), refusal(/No workspace has the key "INITECH"/));
  });

  it('of a workspace may be left out when there is one, and are asked for otherwise', async () => {
    assert.equal((await names().names.workspace(undefined)).id, ACME.id);
    const { names: both } = names([ACME, GLOBEX]);
    assert.equal((await both.workspace('GLOBEX')).id, GLOBEX.id);
    assert.equal(await both.workspaceOrAll(undefined), null);
    await assert.rejects(both.workspace(undefined), refusal(/"Acme" \(acme\), "Globex" \(globex\)/));
    await assert.rejects(both.workspace('initech'), refusal(/No workspace is named "initech".*list_workspaces/));
    await assert.rejects(names([]).names.workspace(undefined), refusal(/There is no workspace yet/));
  });
});
