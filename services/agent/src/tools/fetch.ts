import { recordText } from '../views/markdown.ts';
import { object, text } from '../views/parts.ts';
import { tool } from './tool.ts';

export const fetchRecord = tool({
  name: 'fetch',
  title: 'Fetch a record',
  description:
    'Shows a task, project or comment that search has found, whole and as Markdown. Example: {"id": "0192f0c1-5b7e-7c3a-9d3e-2f6a1b4c8d90"}',
  effect: 'reads',
  input: object({ id: { type: 'string', format: 'uuid', description: '`id` of a result of search.' } }),
  output: object({
    id: text,
    title: text,
    text: { ...text, description: 'Markdown.' },
    url: text,
    metadata: object({ type: { type: 'string', enum: ['task', 'project', 'comment'] } }),
  }),
  run: async ({ id }, { graph }) => {
    const { type, ...record } = await recordText(id, graph);
    return { id, ...record, metadata: { type } };
  },
});
