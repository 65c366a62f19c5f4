/** What only Prometheus itself can check: the grammar of rules and of the expressions of dashboards, and the tests of rules. */
import { fetchDebianPackages, LOCAL, UserError } from '@wts/local';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { generatedFiles, RULES, RULE_TESTS } from './files.ts';

const run = promisify(execFile);
const CHECK_MS = 120_000;
const MISSING = `There is no promtool, which checks rules and expressions.
Install Prometheus, set PROMTOOL to its program promtool, or run this on Debian or Ubuntu, where it is downloaded by itself.`;

export async function check(): Promise<void> {
  const promtool = await findPromtool();
  const work = await mkdtemp(join(tmpdir(), 'wts-observability-'));
  try {
    const expressions = join(work, 'dashboards.yaml');
    await writeFile(expressions, asRules([...generatedFiles().values()].flatMap(expressionsOf)));
    for (const args of [
      ['check', 'rules', RULES],
      ['test', 'rules', RULE_TESTS],
      ['check', 'rules', expressions],
    ])
      console.log(await runPromtool(promtool, args));
  } finally {
    await rm(work, { recursive: true });
  }
}

async function runPromtool(promtool: string, args: readonly string[]): Promise<string> {
  try {
    return (await run(promtool, args, { timeout: CHECK_MS })).stdout.trimEnd();
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    throw new UserError(`promtool ${args.join(' ')} failed:\n${stdout}${stderr}`);
  }
}

async function findPromtool(): Promise<string> {
  const given = process.env['PROMTOOL'] ?? 'promtool';
  if (spawnSync(given, ['--version']).status === 0) return given;
  if (process.env['PROMTOOL'] !== undefined) throw new UserError(`PROMTOOL is ${given}, which does not run.`);
  try {
    const { root } = await fetchDebianPackages(['prometheus'], join(LOCAL, 'packages', 'prometheus'));
    return join(root, 'usr/bin/promtool');
  } catch (cause) {
    throw new UserError(MISSING, { cause });
  }
}

function expressionsOf(dashboard: string): string[] {
  const { panels } = JSON.parse(dashboard) as { panels: { targets?: { expr: string }[] }[] };
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
}

/** promtool checks expressions only in rules. Grafana replaces its variables before. */
function asRules(expressions: readonly string[]): string {
  const rules = expressions.map((expr, index) => ({
    record: `dashboard:expression:${index}`,
    expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$namespace', '.*'),
  }));
  return JSON.stringify({ groups: [{ name: 'dashboards', rules }] });
}
