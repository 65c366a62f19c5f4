import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { MODELS, modelNamed } from '@wts/models';
import { sharedEngines } from '../../test/shared-engines.ts';
import { type TestEngines, TestPerson, change, refused } from '../../test/test-engines.ts';

/*
 * Who may do what, as a table. Columns are people; `+` applied, `-` forbidden, `0` not found.
 * Every row is tried on a new record of the owner, or, in a private project, of the insider.
 */
const PEOPLE = ['owner', 'admin', 'member', 'guest', 'outsider', 'insider'] as const;
type Who = (typeof PEOPLE)[number];

const TABLE = `
                              owner admin member guest outsider insider
  Workspace INSERT              -     -     -      -     -        -
  Workspace UPDATE              +     +     -      -     0        -
  Workspace ARCHIVE             +     -     -      -     0        -
  Workspace UNARCHIVE           +     -     -      -     0        -
  Workspace DELETE              -     -     -      -     0        -
  User INSERT                   -     -     -      -     -        -
  User UPDATE                   0     0     0      0     0        0
  User UPDATE themselves        +     +     +      +     +        +
  User DELETE themselves        -     -     -      -     -        -
  WorkspaceMember INSERT        -     -     -      -     -        -
  WorkspaceMember UPDATE        +     +     -      -     0        -
  WorkspaceMember DELETE        +     +     -      -     0        -
  WorkspaceMember DELETE themselves   +     +     +      +     0        +
  Team INSERT                   +     +     -      -     0        -
  Team UPDATE                   +     +     -      -     0        -
  Team ARCHIVE                  +     +     -      -     0        -
  Team DELETE                   +     +     -      -     0        -
  TeamMember INSERT             +     +     -      -     0        -
  TeamMember UPDATE             -     -     -      -     0        -
  TeamMember DELETE             +     +     -      -     0        -
  TeamMember DELETE themselves  +     +     +      +     0        +
  Project INSERT                +     +     +      -     0        +
  Project UPDATE                +     +     +      -     0        +
  Project ARCHIVE               +     +     +      -     0        +
  Project DELETE                +     +     +      -     0        +
  Project UPDATE private        0     0     0      0     0        +
  Project ARCHIVE private       0     0     0      0     0        +
  Project DELETE private        0     0     0      0     0        +
  ProjectMember INSERT          +     +     -      -     0        -
  ProjectMember UPDATE          -     -     -      -     0        -
  ProjectMember DELETE          +     +     -      -     0        -
  ProjectMember DELETE themselves     +     +     +      +     0        +
  ProjectMember INSERT private  +     +     0      0     0        +
  ProjectMember DELETE private  +     +     0      0     0        +
  Label INSERT                  +     +     +      -     0        +
  Label UPDATE                  +     +     +      -     0        +
  Label ARCHIVE                 +     +     +      -     0        +
  Label DELETE                  +     +     +      -     0        +
  Task INSERT                   +     +     +      +     0        +
  Task UPDATE                   +     +     +      -     0        +
  Task ARCHIVE                  +     +     +      -     0        +
  Task UNARCHIVE                +     +     +      -     0        +
  Task DELETE                   +     +     +      -     0        +
  Task UPDATE assigned          +     +     +      +     0        +
  Task DELETE assigned          +     +     +      +     0        +
  Task INSERT private           0     0     0      0     0        +
  Task UPDATE private           0     0     0      0     0        +
  Task DELETE private           0     0     0      0     0        +
  TaskChecklistItem INSERT      +     +     +      -     0        +
  TaskChecklistItem UPDATE      +     +     +      -     0        +
  TaskChecklistItem DELETE      +     +     +      -     0        +
  TaskChecklistItem INSERT assigned   +     +     +      +     0        +
  TaskChecklistItem UPDATE assigned   +     +     +      +     0        +
  TaskChecklistItem DELETE private    0     0     0      0     0        +
  Comment INSERT                +     +     +      +     0        +
  Comment INSERT private        0     0     0      0     0        +
  Comment UPDATE                +     -     -      -     0        -
  Comment UPDATE private        0     0     0      0     0        +
  Comment DELETE                +     +     -      -     0        -
  Comment DELETE private        0     0     0      0     0        +
`;

const ROWS = TABLE.trim()
  .split('\n')
  .slice(1)
  .map((line) => {
    const [model, action, ...rest] = line.trim().split(/\s+/);
    return {
      model: model!,
      action: action as 'INSERT' | 'UPDATE' | 'DELETE' | 'ARCHIVE' | 'UNARCHIVE',
      where: rest.length > PEOPLE.length ? rest[0]! : '',
      signs: rest.slice(-PEOPLE.length),
    };
  });

const PATCHES: Readonly<Record<string, object>> = {
  WorkspaceMember: { role: 'member' },
  TeamMember: {},
  ProjectMember: {},
  Task: { title: 'Changed' },
  TaskChecklistItem: { title: 'Changed' },
  Comment: { body: 'Changed' },
};

describe('who may do what [sync.mutate.roles] [sync.mutate.no-role]', () => {
  let engines: TestEngines;
  let workspace: string;
  let hidden: string;
  const urlKey = `w-${randomUUID().slice(0, 18)}`;
  const people = {} as Record<Who, TestPerson>;

  before(async () => {
    engines = await sharedEngines();
    people.owner = await engines.person();
    workspace = await engines.workspace(people.owner, urlKey);
    people.outsider = await engines.person();
    await engines.workspace(people.outsider);
    for (const role of ['admin', 'member', 'guest'] as const) people[role] = await engines.join(workspace, role);
    people.insider = await engines.join(workspace, 'member');
    hidden = await people.insider.make('Project', {
      workspaceId: workspace,
      key: 'HID',
      name: 'Hidden',
      isPrivate: true,
    });
  });

  let count = 0;
  const key = (): string => `K${(count += 1)}`;

  /** The payload of an INSERT of the model, and who makes the record that is changed. */
  async function draft(model: string, who: TestPerson, where: string): Promise<{ payload: object; maker: TestPerson }> {
    const isHidden = where === 'private';
    const maker = isHidden ? people.insider : people.owner;
    const home = { workspaceId: workspace };
    const projectId = isHidden ? hidden : null;
    const isOwn = where === 'themselves' && who !== people.outsider;
    const isInside = model === 'Comment' || model === 'TaskChecklistItem';
    const assigneeId = where === 'assigned' && who !== people.outsider ? who.id : null;
    const task = { ...home, title: 'Task', projectId, assigneeId };
    const payloads: Record<string, () => object | Promise<object>> = {
      Workspace: () => ({ name: 'W', urlKey: `w-${key().toLowerCase()}` }),
      User: () => ({ name: 'U' }),
      WorkspaceMember: () => ({ ...home, userId: people.outsider.id, role: 'guest' }),
      Team: () => ({ ...home, key: key(), name: 'T' }),
      Project: () => ({ ...home, key: key(), name: 'P', isPrivate: isHidden }),
      Label: () => ({ ...home, name: 'L' }),
      Task: () => task,
      TeamMember: async () => ({
        teamId: await people.owner.make('Team', { ...home, key: key(), name: 'T' }),
        userId: (who === people.outsider ? people.guest : who).id,
      }),
      ProjectMember: async () => ({
        projectId: isHidden
          ? await people.insider.make('Project', { ...home, key: key(), name: 'P', isPrivate: true })
          : await people.owner.make('Project', { ...home, key: key(), name: 'P' }),
        userId: (isOwn ? who : who === people.guest ? people.member : people.guest).id,
      }),
    };
    if (!isInside) return { payload: await payloads[model]!(), maker };
    const taskId = await maker.make('Task', task);
    return { payload: { ...home, taskId, ...(model === 'Comment' ? { body: 'C' } : { title: 'C' }) }, maker };
  }

  /** The id of the record that is changed. */
  async function target(model: string, who: TestPerson, where: string): Promise<string> {
    if (model === 'Workspace') return workspace;
    if (model === 'User') return (where === 'themselves' ? who : await engines.person()).id;
    if (model === 'WorkspaceMember')
      return engines.membershipOf(
        workspace,
        where === 'themselves' && who !== people.outsider
          ? await substitute(who)
          : await engines.join(workspace, 'guest'),
      );
    const { payload, maker } = await draft(model, who, where);
    const own = model === 'TeamMember' && where !== 'themselves' ? { ...payload, userId: people.insider.id } : payload;
    const id = await maker.make(model, { ...own });
    return id;
  }

  /** Another person of the same role, who may leave without affecting the next rows. */
  const substitutes = new Map<TestPerson, TestPerson>();
  async function substitute(who: TestPerson): Promise<TestPerson> {
    const role = who === people.insider ? 'member' : (PEOPLE.find((name) => people[name] === who) as 'owner');
    const person = await engines.join(workspace, role);
    substitutes.set(who, person);
    return person;
  }

  for (const { model, action, where, signs } of ROWS) {
    it(`${action} ${model} ${where}`.trim(), async () => {
      const seen: string[] = [];
      /** Of the person before, where it depends on none and was not changed. */
      let left: string | null = null;
      for (const name of PEOPLE) {
        let who = people[name];
        const isInsert = action === 'INSERT';
        const id: string = isInsert ? randomUUID() : (left ?? (await target(model, who, where)));
        if (model === 'WorkspaceMember' && where === 'themselves') who = substitutes.get(who) ?? who;
        // A team membership of another person: the insider would remove themselves here.
        if (model === 'TeamMember' && !isInsert && where === '' && name === 'insider') who = people.member;
        const payload = isInsert
          ? (await draft(model, who, where)).payload
          : action === 'UPDATE'
            ? (PATCHES[model] ?? { name: 'Changed' })
            : model === 'Workspace'
              ? { urlKey }
              : {};
        const head = await engines.head();
        const outcome = await engines.send(who.unit(change(action, model, id, { ...payload })));
        seen.push(
          outcome.ok
            ? '+'
            : (({ forbidden: '-', not_found: '0' } as Record<string, string>)[outcome.code] ?? outcome.code),
        );
        if (!outcome.ok) assert.equal(await engines.head(), head);
        left = !outcome.ok && ['', 'private'].includes(where) && !/^(?:Team|Project)Member$/.test(model) ? id : null;
        const instead = modelNamed(model).instead?.[action.toLowerCase() as 'insert'];
        if (seen.at(-1) === '-')
          assert.equal(refused(outcome).error, instead ?? `Your role does not allow this change to a ${model}`);
        // The next rows change what is in it.
        if (model === 'Workspace' && action === 'ARCHIVE' && outcome.ok) await who.try('UNARCHIVE', model, id);
      }
      assert.equal(seen.join(' '), signs.join(' '));
    });
  }

  it('is listed for every model and every action', () => {
    const said = new Set(ROWS.map(({ model, action }) => `${model} ${action}`));
    const all = MODELS.flatMap(({ name, archivable }) =>
      ['INSERT', 'UPDATE', 'DELETE', ...(archivable ? ['ARCHIVE'] : [])].map((action) => `${name} ${action}`),
    );
    assert.deepEqual(
      all.filter((one) => !said.has(one)),
      [],
    );
  });

  it('refuses changes of workspaces and their people without the scope admin [authentication.scopes.people]', async () => {
    const app = new TestPerson(engines, people.owner.id, { scopes: ['write'] });
    const needing = MODELS.filter(({ scope }) => scope === 'admin').map(({ name }) => name);
    assert.deepEqual(needing.toSorted(), ['ProjectMember', 'Workspace', 'WorkspaceMember']);
    for (const model of needing) {
      // The answer does not depend on the record, or on whether it exists.
      const ids = [model === 'Workspace' ? workspace : await target(model, people.owner, ''), randomUUID()];
      for (const id of ids)
        for (const action of ['INSERT', 'UPDATE', 'DELETE'] as const)
          assert.equal(refused(await app.try(action, model, id)).code, 'insufficient_scope', `${action} ${model}`);
    }
    await app.make('Task', { workspaceId: workspace, title: 'By an app' });
    // The lead of a private project becomes a member of it.
    const project = { workspaceId: workspace, name: 'Private', isPrivate: true };
    const led = { ...project, key: key(), leadId: people.member.id };
    assert.equal(refused(await app.try('INSERT', 'Project', randomUUID(), led)).code, 'insufficient_scope');
    await app.make('Project', { ...led, isPrivate: false });
    for (const leadId of [null, app.id]) await app.make('Project', { ...project, key: key(), leadId });
  });

  it('refuses to archive records of a model that cannot be archived', async () => {
    const comment = await target('Comment', people.owner, '');
    const refusal = refused(await people.owner.try('ARCHIVE', 'Comment', comment));
    assert.deepEqual(refusal, { ok: false, code: 'validation_failed', error: 'A Comment cannot be archived' });
  });

  it('lets a guest change the tasks they created or are assigned, until those are assigned to another', async () => {
    const { guest, owner } = people;
    const own = await guest.make('Task', { workspaceId: workspace, title: 'Own' });
    await guest.change('Task', own, { title: 'Still own', assigneeId: owner.id });
    const given = await owner.make('Task', { workspaceId: workspace, title: 'Given', assigneeId: guest.id });
    await guest.change('Task', given, { title: 'Taken', assigneeId: null });
    assert.equal(refused(await guest.try('UPDATE', 'Task', given, { title: 'Again' })).code, 'forbidden');
    const other = await owner.make('Task', { workspaceId: workspace, title: 'Other' });
    assert.equal(refused(await guest.try('UPDATE', 'Task', other, { assigneeId: guest.id })).code, 'forbidden');
    const comment = await guest.make('Comment', { workspaceId: workspace, taskId: other, body: 'Mine' });
    await guest.change('Comment', comment, { body: 'Still mine' });
    await guest.delete('Comment', comment);
  });

  it('lets the lead of a project change its members', async () => {
    const { member, owner, guest } = people;
    const projectId = await owner.make('Project', {
      workspaceId: workspace,
      key: key(),
      name: 'Led',
      leadId: member.id,
    });
    const id = await member.make('ProjectMember', { projectId, userId: guest.id });
    await member.delete('ProjectMember', id);
  });
});
