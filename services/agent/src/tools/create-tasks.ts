import { changeTasks } from './change-tasks.ts';
import { namesOfChanges } from '../graph/changes.ts';
import { AGENT_LIMITS } from '../limits.ts';
import { RESULTS, resultsView } from '../views/results.ts';
import { todayIn } from '@wts/models/words';
import { changesOf, outcomesOf } from './batch.ts';
import { IDEMPOTENCY_KEY, object, text, TIMEZONE, WORKSPACE } from '../views/parts.ts';
import { TASK_INPUT, taskInputOf } from './task-input.ts';
import { tool } from './tool.ts';

export const createTasks = tool({
  name: 'create_tasks',
  title: 'Create tasks',
  description: [
    `Creates up to ${AGENT_LIMITS.batchMax} tasks in one workspace, in the given order. Each has its own result; one that is refused does not stop the others. Projects, teams, labels and people must exist already.`,
    'Give an idempotencyKey: when the answer is lost, the same items with the same key, workspace and timezone create nothing twice, all of them or only those that failed. An item that you change is a new task; of equal items, repeat all.',
    'Example: {"workspace": "acme", "idempotencyKey": "5f0c2d", "timezone": "Europe/Berlin", "tasks": [{"title": "Send the offer", "assignee": "me", "deadlineAt": "next friday", "labels": ["sales"], "priority": "high"}]}',
  ].join('\n'),
  effect: 'adds',
  input: object(
    {
      workspace: WORKSPACE,
      tasks: { type: 'array', minItems: 1, maxItems: AGENT_LIMITS.batchMax, items: object(TASK_INPUT, ['title']) },
      timezone: TIMEZONE,
      idempotencyKey: IDEMPOTENCY_KEY,
    },
    ['tasks'],
  ),
  output: object({ ...RESULTS, today: text, timezone: text }),
  run: async ({ workspace: word, tasks, timezone, idempotencyKey }, { graph, names, now }) => {
    const today = todayIn(timezone, now());
    const workspace = await names.workspace(word);
    const changes = await changesOf(tasks, async (task) => {
      const input = await taskInputOf(task, { names, workspace, today });
      return { input: { ...input, workspaceId: workspace.id } };
    });
    const asked = tasks.map((task) => [word, timezone, task]);
    const nameOf = namesOfChanges('create_tasks', idempotencyKey, asked);
    const made = await changeTasks(graph, 'taskCreate', changes.valid, { nameOf, idempotencyKey });
    return { ...resultsView(outcomesOf(tasks.length, changes, made)), today: today.day, timezone: today.timezone };
  },
});
