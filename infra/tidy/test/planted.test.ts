import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from '../src/tree.ts';

const CONFIGURATION = [
  '.gitignore',
  'oxlint.config.ts',
  'knip.json',
  'turbo.json',
  'tsconfig.base.json',
  'tsconfig.json',
  'package.json',
  'pnpm-workspace.yaml',
];

/** A small repository under our configuration, without violations: two services and a package. */
const SOUND = {
  'services/one/package.json': manifest('@wts/one', ['@wts/deep']),
  'services/one/turbo.json': '{"extends": ["//"], "tags": ["service"]}',
  'services/one/src/main.ts': "import { depth } from '@wts/deep';\n\nif (depth > 1) process.exitCode = 1;\n",
  'services/two/package.json': manifest('@wts/two', []),
  'services/two/turbo.json': '{"extends": ["//"], "tags": ["service"]}',
  'services/two/src/main.ts': 'process.exitCode = 0;\n',
  'packages/deep/package.json': manifest('@wts/deep', []),
  'packages/deep/turbo.json': '{"extends": ["//"], "tags": ["package"]}',
  'packages/deep/src/index.ts': 'export const depth = 1;\n',
};

describe('the tools under our configuration', function () {
  this.timeout(600_000);

  it('refuse a handler that imports the store, a cycle, a floating promise, a setting read in the middle and a fifth parameter', () => {
    for (const rule of ['no-restricted-imports', 'no-cycle', 'no-floating-promises', 'no-process-env', 'max-params'])
      assert.match(linted(), new RegExp(rule));
  });

  it('refuse a folder of a service that imports a folder that it may not, also a type, from a folder inside it, or by way of a file beside it', () => {
    const output = linted();
    assert.match(output, /store\/need\.ts.*no-restricted-imports/);
    assert.match(output, /store\/deep\/need\.ts.*no-restricted-imports/);
    assert.match(output, /unnamed\/news\.ts.*no-restricted-imports/);
    assert.match(output, /log-maintenance\.ts:2:.*no-restricted-imports/);
    assert.match(output, /deltas\/pages\.ts.*no-restricted-imports/);
    for (const allowed of [
      /main\.ts/,
      /src\/commit\/need\.ts/,
      /deep\/row\.ts/,
      /log-maintenance\.ts:1:/,
      /relay\/relay\.ts/,
    ])
      assert.doesNotMatch(output, allowed);
  });

  it('refuse a service that imports a service, or a file outside of its folder', () => {
    const declared = run('turbo', ['boundaries'], {
      'services/one/package.json': manifest('@wts/one', ['@wts/deep', '@wts/two']),
    });
    assert.match(declared, /denylist/);
    const reached = run('turbo', ['boundaries'], {
      'services/one/src/reach.ts': "export { two } from '../../two/src/main.ts';\n",
    });
    assert.match(reached, /leaves the package/);
  });

  it('refuse a package that imports a service', () => {
    const output = run('turbo', ['boundaries'], { 'packages/deep/package.json': manifest('@wts/deep', ['@wts/two']) });
    assert.match(output, /denylist/);
  });

  it('refuse a package or a testkit that depends on tools of infra', () => {
    for (const tag of ['package', 'testing']) {
      const output = run('turbo', ['boundaries'], {
        'packages/deep/package.json': manifest('@wts/deep', ['@wts/two']),
        'packages/deep/turbo.json': JSON.stringify({ extends: ['//'], tags: [tag] }),
        'services/two/turbo.json': '{"extends": ["//"], "tags": ["infra"]}',
      });
      assert.match(output, /denylist/);
    }
  });

  it('refuse an unused export, file and dependency', () => {
    const output = run('knip', ['--no-progress'], {
      'packages/deep/src/index.ts': 'export const depth = 1;\nexport const width = 2;\n',
      'services/one/src/forgotten.ts': 'export const forgotten = 1;\n',
      'services/two/package.json': manifest('@wts/two', ['@wts/deep']),
    });
    for (const name of ['width', 'forgotten', '@wts/deep']) assert.match(output, new RegExp(name));
    assert.equal(output.match(/^Unused \w+ \(1\)$/gm)?.length, 3, output);
  });

  it('accept the boundaries of the same repository when nothing is planted', () => {
    const root = plant({});
    try {
      const { status, stdout, stderr } = spawnIn(root, 'turbo', ['boundaries']);
      assert.equal(status, 0, stdout + stderr);
    } finally {
      rmSync(root, { recursive: true });
    }
  });
});

let output: string | undefined;

/** What the linter says of violations of every kind in one repository, because each run takes seconds. */
function linted(): string {
  return (output ??= run('oxlint', ['-f', 'unix'], {
    'services/one/src/store/rows.ts':
      "import { answer } from '../http/rows.ts';\n\nexport const rows = async (): Promise<number> => answer();\n",
    'services/one/src/http/rows.ts':
      "import { rows } from '../store/rows.ts';\n\nexport function answer(): number {\n  rows();\n  return Number(process.env['ROWS']);\n}\n\nexport const sum = (a: number, b: number, c: number, d: number, e: number): number => a + b + c + d + e;\n",
    'services/sync/src/store/need.ts': "export type { Need } from '../commit/need.ts';\n",
    'services/sync/src/commit/need.ts': "export type { Row } from '../store/row.ts';\n\nexport type Need = string;\n",
    'services/sync/src/store/row.ts': 'export type Row = string;\n',
    'services/sync/src/store/deep/need.ts': "export type { Need } from '../../commit/need.ts';\n",
    'services/sync/src/store/deep/row.ts': "export type { Row } from '../row.ts';\n",
    'services/sync/src/unnamed/news.ts': "export type { Row } from '../store/row.ts';\n",
    'services/sync/src/log-maintenance.ts':
      "export type { Row } from './store/row.ts';\nexport type { Need } from './commit/need.ts';\n",
    'services/sync/src/deltas/pages.ts': "export type { Row } from '../log-maintenance.ts';\n",
    'services/sync/src/relay/relay.ts': "export type { Row } from '../log-maintenance.ts';\n",
  }));
}

/** The output of the tool for the planted repository, which it must refuse. */
function run(tool: string, args: readonly string[], planted: Readonly<Record<string, string>>): string {
  const root = plant(planted);
  try {
    const { status, stdout, stderr } = spawnIn(root, tool, args);
    assert.equal(status, 1, `${tool} found nothing:\n${stdout}${stderr}`);
    return stdout + stderr;
  } finally {
    rmSync(root, { recursive: true });
  }
}

function spawnIn(
  root: string,
  tool: string,
  args: readonly string[],
): { status: number | null; stdout: string; stderr: string } {
  const path = `${join(ROOT, 'node_modules/.bin')}:${process.env['PATH']}`;
  return spawnSync(tool, args, {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, PATH: path, TURBO_TELEMETRY_DISABLED: '1' },
  });
}

function plant(planted: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'tidy-plant-'));
  for (const name of CONFIGURATION) copyFileSync(join(ROOT, name), join(root, name));
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  for (const [path, text] of Object.entries({ ...SOUND, ...planted })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  for (const user of ['services/one', 'services/two']) {
    mkdirSync(join(root, user, 'node_modules/@wts'), { recursive: true });
    symlinkSync(join(root, 'packages/deep'), join(root, user, 'node_modules/@wts/deep'));
  }
  return root;
}

function manifest(name: string, dependencies: readonly string[]): string {
  return JSON.stringify({
    name,
    version: '1.0.0',
    private: true,
    type: 'module',
    exports: { '.': './src/index.ts' },
    dependencies: Object.fromEntries(dependencies.map((dependency) => [dependency, 'workspace:*'])),
  });
}
