import assert from 'node:assert/strict';
import { plantedTree } from '../tree.ts';
import {
  codedTitles,
  drawers,
  generated,
  kebabCase,
  metricNames,
  numberedTwice,
  retiredTerms,
  topLevel,
  vagueTypes,
} from './names.ts';

const tree = (...paths: string[]) => plantedTree(Object.fromEntries(paths.map((path) => [path, ''])));

describe('names', () => {
  it('refuses a new top-level entry, and lets dot files and tool configuration be', () => {
    const findings = topLevel(
      tree('scripts/go.sh', 'notes.md', 'README.md', '.ci/run', 'turbo.json', 'services/sync/src/main.ts'),
    );
    assert.deepEqual(
      findings.map(({ path }) => path),
      ['notes.md', 'scripts'],
    );
  });

  it('refuses a drawer, as a folder and as a file', () => {
    const findings = drawers(
      tree(
        'packages/x/src/utils/a.ts',
        'services/y/src/helpers.ts',
        'packages/shared/README.md',
        'packages/x/src/sharing.ts',
      ),
    );
    assert.deepEqual(
      findings.map(({ path }) => path),
      ['packages/shared/README.md', 'packages/x/src/utils/a.ts', 'services/y/src/helpers.ts'],
    );
  });

  it('refuses other cases than kebab-case', () => {
    const good = [
      'a/log-page.pg.test.ts',
      'a/0001-create-log.ts',
      'a/README.md',
      'a/.mocharc.json',
      'a/tsconfig.base.json',
      'a/Dockerfile',
    ];
    const findings = kebabCase(tree(...good, 'a/logPage.ts', 'a/log_page.ts', 'Big/a.ts'));
    assert.deepEqual(
      findings.map(({ path }) => path),
      ['Big/a.ts', 'a/logPage.ts', 'a/log_page.ts'],
    );
  });

  it('refuses types named after nothing', () => {
    const text = [
      'export class SessionManager {}',
      'class BaseStore {}',
      'interface IUser {}',
      'interface Invitation {}',
      'class Fault {}',
    ];
    const findings = vagueTypes(plantedTree({ 'a.ts': text.join('\n') }));
    assert.deepEqual(
      findings.map(({ line }) => line),
      [1, 3],
    );
  });

  it('refuses a number that two migrations or decisions of a folder have', () => {
    const findings = numberedTwice(
      tree('a/migrations/0001-b.ts', 'a/migrations/0001-c.ts', 'b/migrations/0001-b.ts', 'decisions/0002-d.md'),
    );
    assert.deepEqual(
      findings.map(({ path }) => path),
      ['a/migrations/0001-c.ts'],
    );
  });

  it('refuses what a tool makes, whether or not it is ignored', () => {
    const findings = generated(tree('a/dist/a.js', 'a/run.log', 'a/src/dist.ts'), ['packages/x/cache.bin']);
    assert.deepEqual(
      findings.map(({ path }) => path),
      ['a/dist/a.js', 'a/run.log', 'packages/x/cache.bin'],
    );
  });

  it('refuses a title that begins with a code, and lets a number of things begin one', () => {
    const coded = [
      'A16: that are cut',
      'A20, E5: are bounded',
      '6: refuses',
      '7. refuses',
      '(B2) never',
      'T1 of many',
      'M-4 - x',
    ];
    const good = [
      '500 clients reconnect',
      '410 ends it',
      'A task moves',
      'ES256: is the one',
      'is one [a.b]',
      '10,000 of them',
    ];
    const text = [...coded, ...good].map((title) => `it('${title}', () => {});`);
    assert.deepEqual(
      codedTitles(plantedTree({ 'a.test.ts': ['describe(', "  'A15: TLS', () => {", ...text].join('\n') })).map(
        ({ line }) => line,
      ),
      [1, 3, 4, 5, 6, 7, 8, 9],
    );
  });

  it('refuses a metric without the prefix and the part of the system', () => {
    const text = [
      "name: 'wts_commit_waiting_bytes',",
      "name: 'http_requests_total',",
      "gauge('wts_total', '')",
      "['up', '']",
    ];
    assert.deepEqual(
      metricNames(plantedTree({ 'a/metrics.ts': text.join('\n') })).map(({ line }) => line),
      [2, 3],
    );
  });

  it('refuses a retired term in a file name, an identifier and a comment, and leaves text alone', () => {
    const planted = plantedTree({
      'a/gossip-counts.ts': '',
      'a/b.ts': [
        "const text = 'a gossip';",
        'const slowDribbler = 1;',
        '/** Departs. */',
        'const fatefully = 1;',
        '// The world.',
      ].join('\n'),
    });
    assert.deepEqual(
      retiredTerms(planted).map(({ path, line }) => [path, line]),
      [
        ['a/gossip-counts.ts', undefined],
        ['a/b.ts', 2],
        ['a/b.ts', 3],
        ['a/b.ts', 5],
      ],
    );
  });
});
