import assert from 'node:assert/strict';
import { plantedTree } from '../tree.ts';
import { metricNames } from './names.ts';

describe('names', () => {
  it('refuses a metric without the prefix, also one whose name is on the line after its bracket', () => {
    const tree = plantedTree({
      'services/a/src/metrics.ts': [
        `counter('wts_notes_total', 'Notes.');`,
        `counter('notes_total', 'Notes.');`,
        `gauge(\n  'notes_open', 'Open notes.');`,
        `new Counter({ name: 'wts_total' });`,
        `for (const [name] of [['notes_unsent', 'Bytes.'],\n  [\n    'notes_seconds',\n    'Age.']])`,
      ].join('\n'),
      'services/a/src/notes.ts': `counter('notes_total', 'Notes.');`,
    });
    assert.deepEqual(
      metricNames(tree).map(({ line, message }) => [line, message.split(' ')[2]]),
      [
        [2, 'notes_total'],
        [3, 'notes_open'],
        [5, 'wts_total'],
        [6, 'notes_unsent'],
        [7, 'notes_seconds'],
      ],
    );
  });
});
