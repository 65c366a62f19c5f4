import assert from 'node:assert/strict';
import { Records } from './records.ts';

describe('reading', () => {
  let records: Records;
  let me: string;
  let home: string;
  before(async () => {
    records = await Records.open('graph-reads');
    me = await records.person('Ada');
    home = await records.workspace('Platform', me);
  });
  after(() => records[Symbol.asyncDispose]());

  it('goes from records to records, both ways [graphql.schema.derived]', async () => {
    const project = await records.project(home, me, { name: 'Storage' });
    const label = await records.one({ model: 'Label', values: { workspaceId: home, name: 'bug' } });
    const links = { projectId: project, labelIds: [label.id], assigneeId: me, creatorId: me };
    const task = await records.one({ model: 'Task', values: { workspaceId: home, title: 'Move', ...links } });
    await records.one({ model: 'Comment', values: { workspaceId: home, taskId: task.id, authorId: me, body: 'Done' } });
    const { viewer } = await records.data<{ viewer: object }>(
      me,
      `{ viewer { assignedTasks { nodes { title project { name tasks { nodes { id } } } labels { nodes { name tasks { totalCount } } }
           comments { totalCount nodes { body author { name } task { workspace { name } } } } } } } }`,
    );
    assert.deepEqual(viewer, {
      assignedTasks: {
        nodes: [
          {
            title: 'Move',
            project: { name: 'Storage', tasks: { nodes: [{ id: task.id }] } },
            labels: { nodes: [{ name: 'bug', tasks: { totalCount: 1 } }] },
            comments: {
              totalCount: 1,
              nodes: [{ body: 'Done', author: { name: 'Ada' }, task: { workspace: { name: 'Platform' } } }],
            },
          },
        ],
      },
    });
  });
});
