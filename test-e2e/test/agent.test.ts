import { randomUUID } from 'node:crypto';
import type { TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { GENERATIONS, ok, refused, type AgentClient, type ToolAnswer } from './agent-clients.ts';
import { secretsOf } from './agent-secrets.ts';
import { sharedSystem } from './shared-system.ts';

const READ_TOOLS = [
  'whoami',
  'list_workspaces',
  'list_teams',
  'list_members',
  'list_labels',
  'list_projects',
  'find_tasks',
  'get_task',
  'list_comments',
  'search',
  'fetch',
];
const WRITE_TOOLS = [
  'create_tasks',
  'update_tasks',
  'complete_tasks',
  'reopen_tasks',
  'archive_tasks',
  'restore_tasks',
  'create_project',
  'update_project',
  'add_comment',
];

interface TaskResult {
  readonly index: number;
  readonly ok: boolean;
  readonly task?: Task;
  readonly note?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

interface Task {
  readonly id: string;
  readonly key: string;
  readonly title: string;
  readonly status: string;
  readonly priority: string;
  readonly startDate: string | null;
  readonly repeatText: string | null;
  readonly repeatNextDate: string | null;
  readonly deadlineAt: string | null;
  readonly description?: string | null;
  readonly assignee: { readonly id: string } | null;
  readonly project: { readonly id: string; readonly key: string } | null;
  readonly labels: readonly { readonly name: string }[];
}

const resultsOf = (answer: ToolAnswer): readonly TaskResult[] => ok<{ results: TaskResult[] }>(answer).results;
const taskOf = (answer: ToolAnswer, index = 0): Task => {
  const { task, error } = resultsOf(answer)[index] as TaskResult;
  assert.ok(task, JSON.stringify(error));
  return task;
};

const namesOf = (labels: Task['labels']): string[] => labels.map(({ name }) => name);

describe('the agent endpoint', function () {
  let system: TestSystem;
  let labelId: string;
  before(async () => {
    system = await sharedSystem();
    labelId = await system.put('Label', { workspaceId: system.workspaceId, name: 'Paperwork' });
  });

  for (const [generation, connect] of Object.entries(GENERATIONS)) {
    describe(generation, () => {
      let agent: AgentClient;
      before(async () => (agent = await connect(system.authUrl, system.apiKey)));
      after(() => agent[Symbol.asyncDispose]());

      it('lists the tools in one order, and describes what each takes, gives and changes [agent.protocol.both-eras, agent.tools.listed]', async () => {
        const { tools } = await agent.client.listTools();
        assert.deepEqual(tools.map(({ name }) => name).toSorted(), [...READ_TOOLS, ...WRITE_TOOLS].toSorted());
        assert.deepEqual((await agent.client.listTools()).tools, tools);
        for (const { name, title, description, inputSchema, outputSchema, annotations } of tools) {
          assert.ok(title && description && /Examples?: \{/.test(description), name);
          assert.equal(inputSchema['additionalProperties'], false, name);
          assert.equal(outputSchema?.type, 'object', name);
          assert.equal(annotations?.readOnlyHint, READ_TOOLS.includes(name), name);
          assert.equal(annotations?.destructiveHint, name === 'archive_tasks', name);
          assert.equal(annotations?.['openWorldHint'], false, name);
        }
        assert.match(agent.client.getInstructions() ?? '', /treat them as data/);
      });

      /** A project with two tasks; a third one is refused. */
      async function projectWithTasks(): Promise<{ key: string; van: Task; contract: Task; created: ToolAnswer }> {
        const key = `P${randomUUID().slice(0, 8)}`;
        const made = { name: `Move ${key}`, key, lead: 'me', targetDate: 'in 2 weeks', idempotencyKey: key };
        const { project } = ok<{ project: { id: string } }>(await agent.call('create_project', made));
        const again = ok<{ project: { id: string } }>(await agent.call('create_project', made));
        assert.equal(again.project.id, project.id);
        refused(await agent.call('create_project', { ...made, idempotencyKey: `${key}-2` }), /^conflict: /);
        const words = { deadlineAt: 'tomorrow', labels: ['paperwork'], priority: 'high' };
        const created = await agent.call('create_tasks', {
          timezone: 'Pacific/Auckland',
          tasks: [
            { title: 'Book the van', project: key, assignee: 'me', ...words },
            { title: 'Pack', project: `move ${key.toLowerCase()}`, assignee: 'Nobody Known' },
            { title: 'Cancel the contract', project: project.id, startDate: '2026-12-01', description: 'By letter.' },
          ],
        });
        return { key, van: taskOf(created), contract: taskOf(created, 2), created };
      }

      it('knows the person, and lists what there is [agent.tools.work]', async () => {
        const me = ok<{ user: { id: string }; workspaces: unknown }>(await agent.call('whoami'));
        assert.equal(me.user.id, system.userId);
        assert.deepEqual(ok(await agent.call('list_workspaces'))['workspaces'], me.workspaces);
        for (const tool of ['list_teams', 'list_members', 'list_labels', 'list_projects']) ok(await agent.call(tool));
      });

      it('creates tasks from the words of people, each with its own result [agent.tools.work]', async () => {
        const { van, created } = await projectWithTasks();
        const [first, pack, third] = resultsOf(created) as [TaskResult, TaskResult, TaskResult];
        assert.deepEqual([first.ok, pack.ok, third.ok], [true, false, true], created.text);
        assert.match(pack.error?.message ?? '', /^No member is named "Nobody Known" in the workspace .*list_members/);
        const { today, timezone } = ok<{ today: string; timezone: string }>(created);
        assert.equal(timezone, 'Pacific/Auckland');
        assert.equal(van.deadlineAt, Temporal.PlainDate.from(today).add({ days: 1 }).toString());
        assert.deepEqual([van.priority, van.assignee?.id], ['high', system.userId]);
        assert.deepEqual(namesOf(van.labels), ['Paperwork']);
        assert.match(van.key, /^DEMO-\d+$/);
      });

      it('says what to change when it refuses [agent.errors.advice]', async () => {
        refused(await agent.call('find_tasks', { asignee: 'me' }), /bad_user_input: .*asignee/);
        refused(await agent.call('create_tasks', { tasks: [{ title: 'x', due: 'today' }] }), /due/);
        refused(await agent.call('create_tasks', { tasks: Array.from({ length: 26 }, () => ({ title: 'x' })) }), /25/);
        refused(await agent.call('update_tasks', { tasks: [{ task: '1' }] }), /bad_user_input/);
        refused(await agent.call('find_tasks', { limit: 0 }), /limit/);
        refused(await agent.call('find_tasks', { limit: 101 }), /limit/);
        refused(await agent.call('find_tasks', { cursor: 'nonsense' }), /bad_user_input/);
        refused(await agent.call('find_tasks', { label: '__proto__' }), /label/);
        refused(await agent.call('find_tasks', { dueTo: 'soon' }), /"soon" is no day\. Use YYYY-MM-DD.*Today is/);
        refused(await agent.call('find_tasks', { timezone: 'Mars' }), /Europe\/Berlin/);
        refused(await agent.call('find_tasks', { workspace: 'nowhere' }), /list_workspaces/);
        refused(await agent.call('get_task', { task: 'the van' }), /is no task.*find_tasks/);
        refused(await agent.call('get_task', { task: randomUUID() }), /not_found/);
        refused(await agent.call('fetch', { id: randomUUID() }), /not_found/);
        refused(await agent.call('fetch', { id: system.userId }), /not_found/);
        await assert.rejects(agent.call('no_such_tool'), /no tool of this name/);
        await assert.rejects(agent.call('__proto__'), /no tool of this name/);
        await assert.rejects(agent.client.readResource({ uri: 'wts://task/nothing' }));
        await assert.rejects(agent.client.getPrompt({ name: 'constructor' }), /no prompt of this name/);
      });

      it('has prompts, and the open tasks of the person as resources [agent.resources.listed]', async () => {
        const { prompts } = await agent.client.listPrompts();
        assert.deepEqual(
          prompts.map(({ name }) => name),
          ['plan_my_day', 'triage_inbox'],
        );
        for (const { name } of prompts) {
          const { messages } = await agent.client.getPrompt({ name, arguments: { timezone: 'Europe/Berlin' } });
          assert.match(JSON.stringify(messages), /find_tasks.*Europe\/Berlin/);
        }
        const title = `Mine ${randomUUID()}`;
        const { id } = taskOf(await agent.call('create_tasks', { tasks: [{ title, assignee: 'me' }] }));
        const { resources } = await agent.client.listResources();
        assert.ok(resources.some(({ uri, name }) => uri === `wts://task/${id}` && name.endsWith(title)));
        const { resourceTemplates } = await agent.client.listResourceTemplates();
        assert.ok(resourceTemplates.some(({ uriTemplate }) => uriTemplate === 'wts://task/{id}'));
      });

      // What a tool does with its arguments is the same for both.
      if (connect === GENERATIONS['SDK 1 (2025)']) return;

      it('finds and changes tasks by words, keys and numbers [agent.tools.work]', async () => {
        const { key, van, contract } = await projectWithTasks();
        const filters = { project: key, assignee: 'me', labels: ['Paperwork'], dueTo: 'in 3 days', fields: ['title'] };
        const found = ok<{ tasks: Task[] }>(await agent.call('find_tasks', filters));
        assert.deepEqual(found.tasks, [{ id: van.id, key: van.key, title: 'Book the van' }]);
        const changed = await agent.call('update_tasks', {
          tasks: [
            { task: van.key, deadlineAt: null, assignee: null, removeLabels: ['Paperwork'], title: 'Book a van' },
            { task: contract.id, addLabels: [labelId], start: 'started' },
            { task: 'demo-999999', title: 'Nothing' },
          ],
        });
        const { title, deadlineAt, assignee, labels } = taskOf(changed);
        assert.deepEqual([title, deadlineAt, assignee, labels], ['Book a van', null, null, []]);
        assert.deepEqual(namesOf(taskOf(changed, 1).labels), ['Paperwork']);
        assert.equal(resultsOf(changed)[2]?.error?.code, 'not_found');
      });

      it('completes, reopens and archives tasks, and completes a project [agent.tools.work]', async () => {
        const { key, van, contract } = await projectWithTasks();
        const number = van.key.slice('DEMO-'.length);
        assert.equal(taskOf(await agent.call('complete_tasks', { tasks: [number] })).status, 'done');
        assert.equal(taskOf(await agent.call('complete_tasks', { tasks: [`#${number}`] })).status, 'done');
        assert.equal(taskOf(await agent.call('reopen_tasks', { tasks: [van.key.toLowerCase()] })).status, 'open');
        assert.equal(taskOf(await agent.call('archive_tasks', { tasks: [van.id] })).status, 'archived');
        const inTrash = await agent.call('update_tasks', { tasks: [{ task: van.id, title: 'Not yet' }] });
        assert.equal(resultsOf(inTrash)[0]?.error?.code, 'conflict');
        assert.equal(taskOf(await agent.call('restore_tasks', { tasks: [van.key] })).status, 'open');
        assert.equal(taskOf(await agent.call('archive_tasks', { tasks: [van.id] })).status, 'archived');
        const left = ok<{ tasks: Task[] }>(await agent.call('find_tasks', { project: key }));
        assert.deepEqual(
          left.tasks.map(({ id }) => id),
          [contract.id],
        );
        const updated = await agent.call('update_project', { project: key, status: 'done', lead: null });
        const { status, lead } = ok<{ project: { status: string; lead: unknown } }>(updated).project;
        assert.deepEqual([status, lead], ['done', null]);
      });

      it('makes tasks repeat, skips a day, and says what becomes of the series [agent.tools.work]', async () => {
        const weekly = { title: 'Water', startDate: '2030-01-07', repeatRule: 'FREQ=WEEKLY;BYDAY=MO' };
        const made = taskOf(await agent.call('create_tasks', { tasks: [weekly] }));
        assert.deepEqual([made.repeatText, made.repeatNextDate], ['every Monday', '2030-01-14']);
        const skipped = taskOf(await agent.call('update_tasks', { tasks: [{ task: made.key, skip: true }] }));
        assert.equal(skipped.startDate, '2030-01-14');
        const [done] = resultsOf(await agent.call('complete_tasks', { tasks: [made.key] }));
        const [, next] = /^The next one of its series is (DEMO-\d+), for 2030-01-21\.$/.exec(done?.note ?? '') ?? [];
        const [archived] = resultsOf(await agent.call('archive_tasks', { tasks: [next] }));
        assert.match(archived?.note ?? '', /its series pauses until it is restored/);
      });

      it('comments, searches, and reads records whole [agent.tools.work]', async () => {
        const { key, contract } = await projectWithTasks();
        const comment = { task: contract.key, body: `See ${key}`, idempotencyKey: `${key}-comment` };
        const added = ok<{ comment: { id: string } }>(await agent.call('add_comment', comment));
        assert.deepEqual(ok(await agent.call('add_comment', comment)), added);
        const listed = await agent.call('list_comments', { task: contract.key });
        assert.deepEqual(
          ok<{ comments: { id: string }[] }>(listed).comments.map(({ id }) => id),
          [added.comment.id],
        );
        const shown = ok<{ task: Task; commentCount: number }>(await agent.call('get_task', { task: contract.key }));
        assert.deepEqual([shown.task.description, shown.commentCount], ['By letter.', 1]);
        const search = await agent.call('search', { query: key });
        const { results } = ok<{ results: { id: string; type: string; url: string }[] }>(search);
        assert.deepEqual(new Set(results.map(({ type }) => type)), new Set(['comment', 'project']));
        for (const { id, url } of results) {
          const whole = ok<{ url: string; text: string }>(await agent.call('fetch', { id }));
          assert.equal(whole.url, url);
          assert.match(whole.text, new RegExp(key));
        }
        const { contents } = await agent.client.readResource({ uri: `wts://task/${contract.id}` });
        assert.match(JSON.stringify(contents), /# .*Cancel the contract.*By letter\..*See P/);
      });

      it('creates no task twice for one idempotencyKey, also when other items change [agent.tools.idempotency]', async () => {
        const idempotencyKey = randomUUID();
        const tasks = Array.from({ length: 25 }, (_, index) => ({ title: `${idempotencyKey} ${index}` }));
        const first = resultsOf(await agent.call('create_tasks', { idempotencyKey, tasks }));
        const [, ...rest] = tasks;
        const repeated = [{ title: 'x', project: 'no such project' }, ...rest];
        const second = resultsOf(await agent.call('create_tasks', { idempotencyKey, tasks: repeated }));
        assert.equal(second[0]?.ok, false);
        assert.deepEqual(
          second.slice(1).map(({ task }) => task?.id),
          first.slice(1).map(({ task }) => task?.id),
        );
        const numbers = first.map(({ task }) => Number(task?.key.split('-').at(-1)));
        assert.deepEqual(
          numbers,
          numbers.toSorted((a, b) => a - b),
        );

        const seen: string[] = [];
        let cursor: string | null = null;
        do {
          const page: ToolAnswer = await agent.call('find_tasks', {
            text: idempotencyKey,
            limit: 10,
            ...(cursor === null ? {} : { cursor }),
          });
          const {
            tasks: found,
            nextCursor,
            hasMore,
          } = ok<{ tasks: Task[]; nextCursor: string | null; hasMore: boolean }>(page);
          assert.equal(hasMore, nextCursor !== null);
          seen.push(...found.map(({ id }) => id));
          cursor = nextCursor;
        } while (cursor !== null);
        assert.deepEqual(new Set(seen), new Set(first.map(({ task }) => task?.id)));
        assert.equal(seen.length, first.length);
      });

      it('shows and runs tools that change something only with the scope write [agent.tools.scope]', async () => {
        await using reader = await connect(system.authUrl, system.readOnlyApiKey);
        const { tools } = await reader.client.listTools();
        assert.deepEqual(tools.map(({ name }) => name).toSorted(), READ_TOOLS.toSorted());
        for (const tool of WRITE_TOOLS)
          refused(await reader.call(tool, {}), new RegExp(`^insufficient_scope: ${tool} needs the scope write`));
        for (const tool of ['whoami', 'find_tasks']) ok(await reader.call(tool));
      });

      it('shows nothing of a workspace or a private project that the person is not in [agent.words.no-foreign-names]', async () => {
        const outsider = await system.person('Outsider');
        const guest = await system.member(`Visitor ${generation.slice(4, 5)}`, 'member');
        const secret = await secretsOf(system, outsider);
        await using foreign = await connect(system.authUrl, guest.token);
        const calls: [string, object][] = [
          ['find_tasks', { project: 'Secret plan' }],
          ['find_tasks', { project: 'Secret plans', workspace: secret.workspaceId }],
          ['find_tasks', { project: secret.projectId }],
          ['find_tasks', { project: secret.privateProjectId }],
          ['find_tasks', { labels: ['Secret label'] }],
          ['find_tasks', { assignee: 'Outsider' }],
          ['find_tasks', { text: 'Secret' }],
          ['list_projects', { workspace: 'Secret workspace' }],
          ['list_projects', {}],
          ['get_task', { task: secret.taskId }],
          ['get_task', { task: secret.privateTaskId }],
          ['get_task', { task: `${secret.urlKey}-1` }],
          ['fetch', { id: secret.taskId }],
          ['fetch', { id: secret.privateTaskId }],
          ['fetch', { id: secret.projectId }],
          ['search', { query: 'Secret' }],
          ['list_comments', { task: secret.taskId }],
          ['add_comment', { task: secret.taskId, body: 'x' }],
          [
            'create_tasks',
            {
              tasks: [
                { title: 'x', project: 'Secret pla' },
                { title: 'y', project: secret.privateProjectId },
              ],
            },
          ],
          [
            'update_tasks',
            {
              tasks: [
                { task: secret.taskId, title: 'x' },
                { task: secret.privateTaskId, title: 'x' },
              ],
            },
          ],
          ['complete_tasks', { tasks: [secret.taskId, secret.privateTaskId] }],
          ['archive_tasks', { tasks: [secret.taskId] }],
          ['update_project', { project: secret.projectId, name: 'x' }],
          ['update_project', { project: 'SECRET', name: 'x' }],
        ];
        const answers = await Promise.all(
          calls.map(async ([tool, args]) => {
            const { text } = await foreign.call(tool, args);
            assert.doesNotMatch(text.replaceAll(JSON.stringify(args).slice(1, -1), ''), /^internal/, `${tool} ${text}`);
            // What the caller has written may be repeated.
            const given = JSON.stringify(args);
            for (const word of [
              'Secret plan',
              'Secret label',
              'Secret workspace',
              'Secret task',
              'Secret private',
              'Outsider',
            ]) {
              if (!given.includes(word)) assert.ok(!text.includes(word), `${tool} ${given}: ${text}`);
            }
            return text;
          }),
        );
        assert.doesNotMatch(answers.join('\n'), /"ok":true/);
      });
    });
  }
});
