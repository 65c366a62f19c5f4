import assert from 'node:assert/strict';
import { plantedTree } from '../tree.ts';
import { links, machines, openEnds, secrets } from './prose.ts';

const linesOf = (check: typeof links, path: string, ...lines: string[]) =>
  check(plantedTree({ [path]: lines.join('\n') })).map(({ line }) => line);

describe('prose', () => {
  it('refuses an open end without an issue', () => {
    const found = linesOf(
      openEnds,
      'a.ts',
      '// TODO: later',
      '// TODO(#12): later',
      '  * FIXME this',
      "const word = 'TODO';",
      '# XXX',
    );
    assert.deepEqual(found, [1, 3, 5]);
  });

  it('refuses a link to a file that is not there', () => {
    const tree = plantedTree({
      'README.md': '[a](docs/a.md) [b](docs/b.md) [out](https://example.org/x) [folder](docs) [code](`[x](y)`)',
      'docs/a.md': '[up](../README.md)\n[gone](../gone.md "title")\n```\n[example](nowhere)\n```\n',
    });
    assert.deepEqual(
      links(tree).map(({ path, message }) => `${path} ${message}`),
      ['README.md link "docs/b.md" leads nowhere', 'docs/a.md link "../gone.md" leads nowhere'],
    );
  });

  it('refuses a link to a heading that is not there', () => {
    const tree = plantedTree({
      'README.md': '[a](#what-it-is) [b](a.md#the-log) [c](a.md#no)\n\n## What it is',
      'a.md': '# The log',
    });
    assert.deepEqual(
      links(tree).map(({ message }) => message),
      ['no heading "#no" in a.md'],
    );
  });

  it('refuses paths and hosts of one machine', () => {
    const home = ['', 'home', 'ada', 'src'].join('/');
    const found = linesOf(
      machines,
      'a.md',
      `cd ${home}`,
      'GET /api/home/x',
      'import "./work/a.ts"',
      'the `/workspaces` route',
    );
    assert.deepEqual(found, [1]);
    assert.equal(
      machines(
        plantedTree({ 'pnpm-lock.yaml': '    resolution: {integrity: x, tarball: http://127.0.0.1:4873/a.tgz}' }),
      ).length,
      1,
    );
  });

  it('refuses what looks like a secret, in any file', () => {
    const planted = [
      ['-----BEGIN', 'PRIVATE KEY-----'].join(' '),
      `whsec_${'A'.repeat(43)}=`,
      `wts_${'x'.repeat(49)}`,
      ['eyJhbGciOiJIUzI1NiJ9', 'eyJzdWIiOiIxMjM0NTY3ODkwIn0', 's'.repeat(43)].join('.'),
      `npm_${'a'.repeat(36)}`,
    ];
    assert.deepEqual(linesOf(secrets, 'a.yaml', ...planted, 'whsec_ is the prefix', 'wts_workspace'), [1, 2, 3, 4, 5]);
  });
});
