import type { TestSystem } from '@wts/testkit';
import { buildSchema, getNamedType } from 'graphql';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { send } from '../graphql/call.ts';
import { comparisonsOf, isOfAll, type Named } from '../graphql/comparisons.ts';
import { nested, operationOf, SchemaWalk, type Place, type SchemaField } from '../graphql/schema-walk.ts';
import { sharedSystem } from './shared-system.ts';

/** A workspace with a record of every model, all of which have a secret text. */
interface Home {
  readonly ids: Record<string, string>;
  readonly secret: string;
}

interface Caller {
  readonly name: string;
  readonly token: string;
  /** Ids and texts that do not exist for them. */
  readonly foreign: readonly string[];
  readonly secrets: readonly string[];
  /** True: also gives ids of records of other types, and filters through relations. */
  readonly isThorough: boolean;
}

/** A list read with a filter that names what the caller may not see. */
interface FilterCell {
  readonly caller: Caller;
  readonly field: string;
  readonly filter: (values: Named) => unknown;
  /** True: finds only what has a value, so nothing with values that do not exist. */
  readonly isPositive: boolean;
  readonly what: string;
}

interface IdPlace {
  readonly field: SchemaField;
  readonly place: Place;
}

interface FieldAnswer {
  readonly data: unknown;
  readonly errors: readonly object[];
}

/** Of a change. */
interface Outcome {
  readonly success?: boolean;
  readonly error?: unknown;
}

const FOUND_NOTHING = '{"totalCount":0,"nodes":[]}';
/** Fields of one request: each is a list of its own. */
const FIELDS_PER_REQUEST = 20;
/** Fields of the records of one list. */
const FIELDS_OF_RECORD_PER_REQUEST = 6;
/** Ids for which one request asks: each is a change of its own. */
const IDS_PER_REQUEST = 10;
const CONCURRENT = 4;

/*
 * What a person may not see must not exist for them: every answer to an id or a text of it is the answer to one that never was, for
 * every argument of every field, generated from the schema.
 */
describe('what a person may not see, by GraphQL', () => {
  let testSystem: TestSystem;
  let walk: SchemaWalk;
  let A: Home;
  let B: Home;
  let hidden: Home;
  const callers: Caller[] = [];

  before(async () => {
    testSystem = await sharedSystem();
    [A, B] = [await home(), await home()];
    hidden = await hiddenIn(A);
    const { text } = await testSystem.request(null, 'GET', '/graphql/schema.graphql');
    walk = new SchemaWalk(buildSchema(text), A.ids);
    const inA = A.ids['Workspace'] ?? '';
    const foreignOf = (...homes: Home[]): Pick<Caller, 'foreign' | 'secrets'> => ({
      foreign: homes.flatMap(({ ids }) => Object.values(ids)),
      secrets: homes.map(({ secret }) => secret),
    });
    const member = await testSystem.member('Member', 'member', inA);
    const { accessToken } = await testSystem.appOf(member, 'read write');
    callers.push({ name: 'an app of a member', token: accessToken, isThorough: true, ...foreignOf(B, hidden) });
    const admin = await testSystem.member('Admin', 'admin', inA);
    callers.push({ name: 'an admin', token: admin.token, isThorough: false, ...foreignOf(B) });
    const both = await testSystem.member('Both', 'member', inA);
    await put('WorkspaceMember', { workspaceId: B.ids['Workspace'], userId: both.userId, role: 'owner' });
    const key = await testSystem.keyOf(both, { permissions: 'full-access', workspaceId: inA });
    callers.push({ name: 'a key for the workspace', token: key.token, isThorough: false, ...foreignOf(B, hidden) });
  });

  const put: TestSystem['put'] = (...given) => testSystem.put(...given);

  async function home(): Promise<Home> {
    const secret = `secret-${randomUUID()}`;
    const owner = await testSystem.person(secret);
    const Workspace = await put('Workspace', { name: secret, urlKey: `w-${randomUUID().slice(0, 18)}` });
    const inside = { workspaceId: Workspace };
    const membership = { ...inside, userId: owner.userId, role: 'owner' };
    const WorkspaceMember = await put('WorkspaceMember', membership);
    const Team = await put('Team', { ...inside, key: 'TEAM', name: secret, description: secret });
    const TeamMember = await put('TeamMember', { teamId: Team, userId: owner.userId });
    const Project = await put('Project', { ...inside, key: 'OPEN', name: secret, teamId: Team });
    const Label = await put('Label', { ...inside, name: secret });
    const at = { projectId: Project, teamId: Team, labelIds: [Label], assigneeId: owner.userId };
    const Task = await put('Task', { ...inside, ...at, title: secret, description: secret });
    const TaskChecklistItem = await put('TaskChecklistItem', { ...inside, taskId: Task, title: secret });
    const Comment = await put('Comment', { ...inside, taskId: Task, body: secret });
    const ApiKey = (await testSystem.keyOf(owner, { permissions: 'full-access' })).id;
    const path = `/api/workspaces/${Workspace}/invitations`;
    const invited = await testSystem.request(owner.token, 'POST', path, { body: { email: `${secret}@example.com` } });
    const Invitation = (invited.json() as { invitation: { id: string } }).invitation.id;
    return {
      secret,
      ids: {
        Workspace,
        WorkspaceMember,
        Team,
        TeamMember,
        Project,
        Label,
        Task,
        TaskChecklistItem,
        Comment,
        ApiKey,
        Invitation,
        User: owner.userId,
      },
    };
  }

  /** A private project of the same workspace, whose only member is the owner. */
  async function hiddenIn({ ids }: Home): Promise<Home> {
    const secret = `secret-${randomUUID()}`;
    const inside = { workspaceId: ids['Workspace'] };
    const Project = await put('Project', { ...inside, key: 'HIDDEN', name: secret, isPrivate: true });
    const ProjectMember = await put('ProjectMember', { projectId: Project, userId: ids['User'] });
    const Task = await put('Task', { ...inside, projectId: Project, title: secret, description: secret });
    const TaskChecklistItem = await put('TaskChecklistItem', { ...inside, taskId: Task, title: secret });
    const Comment = await put('Comment', { ...inside, taskId: Task, body: secret });
    return { secret, ids: { Project, ProjectMember, Task, TaskChecklistItem, Comment } };
  }

  /** The answer without what differs from one request to the next. */
  async function answer(caller: Caller, query: string, variables: object = {}): Promise<string> {
    const { data, errors = [] } = await send(testSystem, caller.token, query, variables);
    for (const { extensions } of errors) assert.notEqual(extensions.code, 'INTERNAL', query);
    const shown = errors.map(({ message, path, extensions: { code } }) => ({ message, path, code }));
    return JSON.stringify({ data, errors: shown });
  }

  function faultOf(caller: Caller, what: string, text: string): string[] {
    const found = [...caller.secrets, ...caller.foreign].filter((one) => text.includes(one));
    return found.length === 0 ? [] : [`${caller.name}, ${what}: showed ${found.join(', ')}: ${text.slice(0, 500)}`];
  }

  /** The foreign ids that a caller gives at a place: of the records to which it refers, or all when that is not known. */
  function foreignAt({ foreign, isThorough }: Caller, { field, place }: IdPlace, index: number): readonly string[] {
    const target = walk.targetAt(field, place);
    const right = [B, hidden].flatMap(({ ids }) => ids[target] ?? []).filter((id) => foreign.includes(id));
    if (!isThorough) return right.length === 0 ? foreign.slice(0, 1) : right;
    if (right.length === 0) return foreign;
    // Of another type at the next place.
    const others = foreign.filter((id) => !right.includes(id));
    return [...right, others[index % others.length] ?? ''];
  }

  /** The answers to the same field with each of these ids at a place, without what differs from one request to the next. */
  async function answers(
    kind: 'query' | 'mutation',
    caller: Caller,
    at: IdPlace,
    ids: readonly string[],
  ): Promise<readonly FieldAnswer[]> {
    if (ids.length > IDS_PER_REQUEST) {
      const [first, rest] = [ids.slice(0, IDS_PER_REQUEST), ids.slice(IDS_PER_REQUEST)];
      return [...(await answers(kind, caller, at, first)), ...(await answers(kind, caller, at, rest))];
    }
    const given = ids.map((id) => walk.argumentsOf(at.field, at.place, id));
    const selection = walk.selectionOf(at.field.type, kind === 'query' ? 2 : 1);
    const { query, variables } = operationOf(kind, at.field, given, selection);
    const { data, errors = [] } = await send(testSystem, caller.token, query, variables);
    for (const { extensions } of errors) assert.notEqual(extensions.code, 'INTERNAL', query);
    // The refusal of a whole document is the same for every id, so it would show nothing.
    for (const { message, path } of errors) assert.ok(path, `${message}: ${query}`);
    // An error of a field that is never null takes the answers of the others away.
    if (data === null && ids.length > 1)
      return (await Promise.all(ids.map((id) => answers(kind, caller, at, [id])))).flat();
    return ids.map((_, index) => ({
      data: data?.[`r${index}`],
      errors: errors
        .filter(({ path }) => (path?.[0] ?? `r${index}`) === `r${index}`)
        .map(({ message, path, extensions: { code } }) => ({ message, path: path?.slice(1), code })),
    }));
  }

  /** What differs between the answers to foreign ids at each place of these fields and the answer to an id that does not exist. */
  async function faultsAt(
    kind: 'query' | 'mutation',
    fields: readonly SchemaField[],
    textOf: (answer: FieldAnswer) => string,
  ): Promise<string[]> {
    const places = fields.flatMap((field) => walk.idPlaces(field).map((place) => ({ field, place })));
    assert.ok(places.length > (kind === 'query' ? 20 : 60), String(places.length));
    // A batch decides each of its changes as the single change, so one caller is enough.
    const cells = callers.flatMap((caller) =>
      places
        .filter(({ field }) => caller.isThorough || !field.name.includes('Batch'))
        .map((at, index) => ({ caller, at, index })),
    );
    return each(cells, async ({ caller, at, index }) => {
      const foreign = foreignAt(caller, at, index);
      const [nothing, ...found] = await answers(kind, caller, at, [randomUUID(), ...foreign]);
      const expected = nothing === undefined ? '' : textOf(nothing);
      const what = `${at.field.name} with ${at.place.join('.')}`;
      return found.flatMap((answer) => [
        ...faultOf(caller, what, JSON.stringify(answer)),
        ...(textOf(answer) === expected
          ? []
          : [`${caller.name}, ${what}: ${textOf(answer).slice(0, 300)} instead of ${expected.slice(0, 300)}`]),
      ]);
    });
  }

  function filterCells(caller: Caller): FilterCell[] {
    return walk.queries.flatMap((root) => {
      const filter = root.args.find(({ name }) => name === 'filter');
      if (filter === undefined) return [];
      return walk.filterPaths(filter.type, caller.isThorough ? 1 : 0).flatMap(({ path, comparator }) =>
        comparisonsOf(comparator, path).map(([kind, value]) => ({
          caller,
          field: root.name,
          filter: (values: Named) => nested(path, value(values)),
          isPositive: kind !== 'nin' && !isOfAll(path),
          what: `${root.name} by ${path.join('.')} ${kind}`,
        })),
      );
    });
  }

  /** Runs all with a few at a time; the faults of all. */
  async function each<T>(items: readonly T[], work: (item: T) => Promise<string[]>): Promise<string[]> {
    const left = items.values();
    const faults: string[] = [];
    const worker = async (): Promise<void> => {
      for (const item of left) faults.push(...(await work(item)));
    };
    await Promise.all(Array.from({ length: CONCURRENT }, worker));
    return faults;
  }

  it('is not found by its id in any argument of any query [never.shown-outside]', async () => {
    const textOf = (one: FieldAnswer): string => JSON.stringify(one).replaceAll(/text-[0-9a-f]{8}|K[0-9a-f]{6}/g, '');
    assert.deepEqual(await faultsAt('query', walk.queries, textOf), []);
    // An id that the caller sees does change the answer.
    const [caller = assert.fail()] = callers;
    const shown = await each(walk.queries, async (field) => {
      for (const place of walk.idPlaces(field)) {
        const right = A.ids[walk.targetAt(field, place)];
        const own = right === undefined ? Object.values(A.ids) : [right];
        const texts = (await answers('query', caller, { field, place }, [randomUUID(), ...own])).map(textOf);
        if (new Set(texts).size > 1) return [field.name];
      }
      return [];
    });
    assert.ok(shown.length > 14, shown.join(' '));
  });

  it('does not show in any field of any record, and in no list [never.shown-outside]', async () => {
    const cells = callers.flatMap((caller) =>
      walk.records.flatMap((record) => {
        const roots = walk.queries.filter(({ type }) => getNamedType(type).name === `${record.name}Connection`);
        return roots.flatMap((root) =>
          inParts(Object.values(record.getFields()), FIELDS_OF_RECORD_PER_REQUEST).map((fields) => ({
            caller,
            root,
            fields,
          })),
        );
      }),
    );
    assert.ok(cells.flatMap(({ fields }) => fields).length > 3 * 100, String(cells.length));
    const faults = await each(cells, async ({ caller, root, fields }) => {
      const pageOf = ({ args }: SchemaField, count: number): string => {
        const given = args.flatMap(({ name }) =>
          name === 'first' ? [`first: ${count}`] : name === 'includeArchived' ? ['includeArchived: true'] : [],
        );
        return given.length === 0 ? '' : `(${given.join(', ')})`;
      };
      const inner = fields.map((field) => `${field.name}${pageOf(field, 5)} ${walk.selectionOf(field.type)}`).join(' ');
      const query = `{ ${root.name}${pageOf(root, 20)} { totalCount nodes { id ${inner} } } }`;
      const text = await answer(caller, query);
      if (!text.endsWith('"errors":[]}')) return [`${query}: ${text.slice(0, 500)}`];
      return faultOf(caller, query, text);
    });
    assert.deepEqual(faults, []);
  });

  it('changes the result of no filter, no search and no order, also through relations [never.shown-outside]', async () => {
    const cells = callers.flatMap(filterCells);
    assert.ok(cells.length > 200, String(cells.length));
    let matching = 0;
    const kinds = callers.flatMap((caller) => [true, false].map((isPositive) => ({ caller, isPositive })));
    const groups = kinds.flatMap(({ caller, isPositive }) => {
      const own = cells.filter((cell) => cell.caller === caller && cell.isPositive === isPositive);
      return inParts(own, FIELDS_PER_REQUEST);
    });
    const faults = await each(groups, async (group) => {
      const { caller, isPositive } = group[0] ?? assert.fail();
      const typeOf = (name: string): string =>
        String(walk.queries.find((one) => one.name === name)?.args.find((arg) => arg.name === 'filter')?.type);
      const declared = group.map(({ field }, index) => `$f${index}: ${typeOf(field)}`).join(', ');
      const fields = group.map(
        ({ field }, index) => `r${index}: ${field}(first: 5, filter: $f${index}) { totalCount nodes { id } }`,
      );
      const query = `query (${declared}) { ${fields.join(' ')} }`;
      const ask = async (ids: readonly string[], texts: readonly string[]): Promise<readonly string[]> => {
        const variables = Object.fromEntries(group.map(({ filter }, index) => [`f${index}`, filter({ ids, texts })]));
        const { data, errors } = await send(testSystem, caller.token, query, variables);
        assert.deepEqual(errors ?? [], [], query);
        return group.map((_, index) => JSON.stringify(data?.[`r${index}`]));
      };
      const nothing = isPositive
        ? group.map(() => FOUND_NOTHING)
        : await ask([randomUUID(), randomUUID()], [`secret-${randomUUID()}`]);
      const found = await ask(caller.foreign, caller.secrets);
      if (caller.isThorough) {
        const own = await ask(Object.values(A.ids), [A.secret]);
        matching += own.filter((one, index) => one !== nothing[index]).length;
      }
      return group.flatMap(({ what }, index) =>
        found[index] === nothing[index]
          ? []
          : [`${caller.name}, ${what}: ${found[index]} instead of ${nothing[index]}`],
      );
    });
    assert.deepEqual(faults, []);
    const shown = cells.filter(({ caller }) => caller.isThorough).length;
    assert.ok(matching > shown / 3, `${matching} of ${shown} filters find what the caller sees`);
  });

  it('is found by no search [never.shown-outside]', async () => {
    const searched = await each(callers, async (caller) => {
      const text = await answer(
        caller,
        'query ($q: String!) { search(query: $q, first: 20, includeArchived: true) { nodes { id } } tasks(search: $q) { totalCount nodes { id } } }',
        { q: caller.secrets[0] },
      );
      return text.includes('"nodes":[{') ? [`${caller.name}: ${text}`] : faultOf(caller, 'search', text);
    });
    assert.deepEqual(searched, []);
  });

  it('cannot be changed, named or placed beside by any argument of any mutation [never.shown-outside]', async () => {
    const before = await stateOf(B);
    const outcomeOf = ({ data, errors }: FieldAnswer): string => {
      const { success, error, results } = (data ?? {}) as Outcome & { results?: readonly Outcome[] };
      return JSON.stringify([success, error, results?.map((one) => [one.success, one.error]), errors]);
    };
    assert.deepEqual(await faultsAt('mutation', walk.mutations, outcomeOf), []);
    assert.equal(await stateOf(B), before, 'the foreign workspace is as it was');
  });

  /** All records of a workspace. */
  async function stateOf({ ids }: Home): Promise<string> {
    const owner = await testSystem.keyOf({ userId: ids['User'] ?? '' }, { permissions: 'read-only' });
    const { text } = await testSystem.request(owner.token, 'GET', `/sync/bootstrap?syncGroups=${ids['Workspace']}`);
    return text.split('\n').slice(1).toSorted().join('\n');
  }
});

function inParts<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  );
}
