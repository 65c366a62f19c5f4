import { LIMITS, ROLES, type DeltasReply, type Role } from '@wts/contracts';
import { eventually, type Person, type TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Description } from '../fuzz/description.ts';
import { sharedSystem } from './shared-system.ts';

/** The roles at the start, so that most commands are not refused for a missing membership. */
const BEGINNING: readonly (Role | null)[] = ['owner', 'admin', 'guest', null];
const RUNS = 4;
const COMMANDS_MAX = 40;
const SEED = 20_261_121;

/** The expected state in a few lines: roles, invitations and keys. */
interface Model {
  readonly roles: (Role | null)[];
  /** `lostTo`: people who were removed or got a lower role after the invitation, and cannot use it. */
  readonly invitations: { role: Role; by: number; isThere: boolean; lostTo: Set<number> }[];
  readonly keys: { of: number; isAlive: boolean }[];
}

/** The ids of the real system. */
interface Real {
  readonly workspaceId: string;
  readonly people: readonly Person[];
  readonly invitations: { id: string; code: string }[];
  readonly keys: { id: string; token: string }[];
}

type Command = fc.AsyncCommand<Model, Real>;

const mayManage = (role: Role | null | undefined): boolean => role === 'owner' || role === 'admin';
const owners = ({ roles }: Model): number => roles.filter((role) => role === 'owner').length;

/** A command with its name, its precondition and its effect. */
function command(name: string, check: (model: Model) => boolean, run: Command['run']): Command {
  return { check, run, toString: () => name };
}

describe('members, invitations and keys', () => {
  let testSystem: TestSystem;
  const everyone: Person[] = [];
  before(async () => (testSystem = await sharedSystem()));

  async function request<T>(
    token: string,
    method: string,
    path: string,
    body?: object,
  ): Promise<T & { status: number }> {
    const answer = await testSystem.request(token, method, path, { body });
    return { ...(answer.json() as T), status: answer.status };
  }

  const as = ({ people }: Real, who: number): { token: string; userId: string } => people[who] as Person;
  const home = ({ workspaceId }: Real, rest = ''): string => `/api/workspaces/${workspaceId}${rest}`;

  const invite = (by: number, role: Exclude<Role, 'owner'>): Command =>
    command(
      `${by} invites a ${role}`,
      () => true,
      async (model, real) => {
        const own = model.roles[by];
        const made = await request<{ invitation: { id: string; code: string } }>(
          as(real, by).token,
          'POST',
          home(real, '/invitations'),
          { role },
        );
        assert.equal(made.status, own === null ? 404 : mayManage(own) ? 201 : 403);
        if (made.status !== 201) return;
        real.invitations.push(made.invitation);
        model.invitations.push({ role, by, isThere: true, lostTo: new Set() });
      },
    );

  const uninvite = (by: number, index: number): Command =>
    command(
      `${by} deletes invitation ${index}`,
      ({ invitations }) => index < invitations.length,
      async (model, real) => {
        const invitation = model.invitations[index]!;
        const path = home(real, `/invitations/${real.invitations[index]!.id}`);
        const { status } = await request(as(real, by).token, 'DELETE', path);
        const own = model.roles[by];
        assert.equal(status, own === null ? 404 : !mayManage(own) ? 403 : invitation.isThere ? 200 : 404);
        if (status === 200) invitation.isThere = false;
      },
    );

  const join = (who: number, index: number): Command =>
    command(
      `${who} joins by invitation ${index}`,
      ({ invitations }) => index < invitations.length,
      async (model, real) => {
        const { role, by, isThere, lostTo } = model.invitations[index]!;
        const { code } = real.invitations[index]!;
        const joined = await request<{ role: Role }>(as(real, who).token, 'POST', '/api/workspaces/join', { code });
        // An invitation is valid only while its creator may invite.
        const isOpen = isThere && mayManage(model.roles[by]);
        const isLost = model.roles[who] === null && lostTo.has(who);
        assert.equal(joined.status, !isOpen ? 404 : isLost ? 410 : 200);
        if (joined.status !== 200) return;
        model.roles[who] ??= role;
        assert.equal(joined.role, model.roles[who]);
      },
    );

  const remove = (by: number, who: number): Command =>
    command(
      by === who ? `${by} leaves` : `${by} removes ${who}`,
      () => true,
      async (model, real) => {
        const [own, theirs] = [model.roles[by], model.roles[who]];
        const path = home(real, `/members/${as(real, who).userId}`);
        const { status } = await request(as(real, by).token, 'DELETE', path);
        const isAllowed = by === who || own === 'owner' || (own === 'admin' && theirs !== 'owner');
        if (own === null || theirs === null) assert.equal(status, 404);
        else if (!isAllowed) assert.equal(status, 403);
        else if (theirs === 'owner' && owners(model) === 1) assert.equal(status, 409);
        else {
          assert.equal(status, 200);
          model.roles[who] = null;
          if (by !== who) for (const { lostTo } of model.invitations) lostTo.add(who);
        }
      },
    );

  const makeOf = (who: number, role: Role): Command =>
    command(
      `${who} becomes ${role}`,
      (model) => {
        const own = model.roles[who];
        return own !== null && own !== role && !(own === 'owner' && owners(model) === 1);
      },
      async (model, real) => {
        const requests = [{ modelName: 'WorkspaceMember', indexedKey: 'userId', keyValue: as(real, who).userId }];
        const { text } = await testSystem.request(as(real, who).token, 'POST', '/sync/batch', { body: { requests } });
        const { id: modelId } = JSON.parse(text.split('\n', 1)[0] ?? '') as { id: string };
        await testSystem.commit([{ modelName: 'WorkspaceMember', modelId, action: 'UPDATE', payload: { role } }]);
        const isLower = ROLES.indexOf(role) > ROLES.indexOf(model.roles[who] ?? 'guest');
        if (isLower) for (const { lostTo } of model.invitations) lostTo.add(who);
        model.roles[who] = role;
      },
    );

  const makeKey = (who: number): Command =>
    command(
      `${who} makes a key`,
      () => true,
      async (model, real) => {
        const path = '/api/auth/keys';
        const made = await request<{ key: { id: string; token: string } }>(as(real, who).token, 'POST', path, {
          label: 'key',
        });
        assert.equal(made.status, 201);
        real.keys.push(made.key);
        model.keys.push({ of: who, isAlive: true });
      },
    );

  const revoke = (by: number, index: number): Command =>
    command(
      `${by} revokes key ${index}`,
      ({ keys }) => index < keys.length,
      async (model, real) => {
        const key = model.keys[index]!;
        const { id, token } = real.keys[index]!;
        const { status } = await request(as(real, by).token, 'DELETE', `/api/auth/keys/${id}`);
        const isTheirs = key.of === by && key.isAlive;
        assert.equal(status, isTheirs ? 200 : 404);
        if (!isTheirs) return;
        key.isAlive = false;
        // The revocation reaches the gateway after a moment, and before its cache of credentials expires.
        await eventually(async () => (await request(token, 'GET', '/api/workspaces')).status === 401, {
          deadlineMs: LIMITS.credentialCacheMs / 2,
        });
      },
    );

  /** Compares everything that a person may see with the model. */
  const look = (who: number): Command =>
    command(
      `${who} looks`,
      () => true,
      async (model, real) => {
        const { token } = as(real, who);
        const own = model.roles[who];
        const listed = await request<{ workspaces: { id: string; role: Role }[] }>(token, 'GET', '/api/workspaces');
        const wanted = own === null ? [] : [{ id: real.workspaceId, role: own }];
        assert.deepEqual(
          listed.workspaces.map(({ id, role }) => ({ id, role })),
          wanted,
        );

        const members = await request<{ members: { userId: string; role: Role }[] }>(
          token,
          'GET',
          home(real, '/members'),
        );
        assert.equal(members.status, own === null ? 404 : 200);
        if (own !== null) {
          const roles = model.roles.flatMap((role, index) => (role === null ? [] : [[as(real, index).userId, role]]));
          assert.deepEqual(
            new Map(members.members.map(({ userId, role }) => [userId, role])),
            new Map(roles as [string, Role][]),
          );
        }

        const path = home(real, '/invitations');
        const pending = await request<{ invitations: { id: string }[] }>(token, 'GET', path);
        assert.equal(pending.status, own === null ? 404 : mayManage(own) ? 200 : 403);
        if (mayManage(own)) {
          const open = model.invitations.flatMap(({ isThere, by }, index) =>
            isThere && mayManage(model.roles[by]) ? [real.invitations[index]!.id] : [],
          );
          assert.deepEqual(new Set(pending.invitations.map(({ id }) => id)), new Set(open));
        }

        const keys = await request<{ keys: { id: string }[] }>(token, 'GET', '/api/auth/keys');
        const alive = model.keys.flatMap(({ of, isAlive }, index) =>
          of === who && isAlive ? [real.keys[index]!.id] : [],
        );
        assert.deepEqual(new Set(keys.keys.map(({ id }) => id)), new Set(alive));
      },
    );

  it('follow a model of a few lines after any sequence of commands [workspaces.members.remove, workspaces.members.last-owner, workspaces.join.code, workspaces.join.after-loss, workspaces.invitations.list, workspaces.roles.manage, api-keys.revoke.dead, api-keys.list.no-token]', async () => {
    const who = fc.nat(BEGINNING.length - 1);
    const which = fc.nat(2);
    const commands = fc.commands(
      [
        fc.tuple(who, fc.constantFrom('admin', 'member', 'guest')).map((args) => invite(...args)),
        fc.tuple(who, which).map((args) => uninvite(...args)),
        fc.tuple(who, which).map((args) => join(...args)),
        fc.tuple(who, which).map((args) => join(...args)),
        fc.tuple(who, who).map((args) => remove(...args)),
        fc.tuple(who, fc.constantFrom('owner', 'admin', 'member', 'guest')).map((args) => makeOf(...args)),
        who.map(makeKey),
        fc.tuple(who, which).map((args) => revoke(...args)),
        who.map(look),
      ],
      { maxCommands: COMMANDS_MAX, size: 'max' },
    );
    await fc.assert(
      fc.asyncProperty(commands, async (all) => {
        const people: Person[] = [];
        for (const index of BEGINNING.keys()) people.push(await testSystem.person(`Person ${index}`));
        everyone.push(...people);
        const { id: workspaceId } = await testSystem.workspaceOf(people[0]!);
        for (const [index, role] of BEGINNING.entries()) {
          if (index === 0 || role === null) continue;
          await testSystem.put('WorkspaceMember', { workspaceId, userId: people[index]!.userId, role });
        }
        const real: Real = { workspaceId, people, invitations: [], keys: [] };
        const model: Model = { roles: [...BEGINNING], invitations: [], keys: [] };
        for (const first of [invite(0, 'member'), invite(1, 'admin'), makeKey(0), makeKey(1)])
          await first.run(model, real);
        await fc.asyncModelRun(() => ({ model, real }), all);
        for (const index of BEGINNING.keys()) await look(index).run(model, real);
      }),
      { seed: SEED, numRuns: RUNS },
    );
  });

  it('leave a log whose every page is as the description says [meta.openapi.typed-records, sync.action.update-changed-only]', async () => {
    const description = new Description((await testSystem.request(null, 'GET', '/openapi.json')).json());
    const deltas = description.operations.find(({ id }) => id === 'syncDeltas');
    const schema = deltas?.responses['200']?.content?.['application/json']?.schema;
    assert.ok(schema);
    const frozen: DeltasReply['actions'][number][] = [];
    for (const { token } of everyone) {
      for (let after = '0', hasMore = true; hasMore;) {
        const { text } = await testSystem.request(token, 'GET', `/sync/deltas?after=${after}&limit=50`);
        const page = JSON.parse(text) as DeltasReply;
        assert.equal(description.errorOf(schema, page), null, text);
        frozen.push(...page.actions.filter(({ action, data }) => action === 'UPDATE' && data['email'] === null));
        ({ lastSyncId: after, hasMore } = page);
      }
    }
    assert.ok(frozen.length > 0, 'no member was removed');
  });
});
