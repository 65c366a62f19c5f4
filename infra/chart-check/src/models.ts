import { LOCAL } from '@wts/local';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { KubernetesObject } from './objects.ts';

const run = promisify(execFile);

/** Types and schemas of the objects, from the descriptions that Kubernetes and the operators publish. */
const PACKAGES: Readonly<Record<string, string>> = {
  'kubernetes-models': '5.1.0',
  '@kubernetes-models/cert-manager': '4.4.4',
  '@kubernetes-models/gateway-api': '0.5.1',
  '@kubernetes-models/keda': '0.4.2',
  '@kubernetes-models/prometheus-operator': '6.0.0',
};
const OF_OPERATORS: Readonly<Record<string, string>> = {
  'cert-manager.io': '@kubernetes-models/cert-manager',
  'gateway.networking.k8s.io': '@kubernetes-models/gateway-api',
  'keda.sh': '@kubernetes-models/keda',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
};
const FOLDER = join(LOCAL, 'packages', 'kubernetes-models');
const TSC = join(dirname(LOCAL), 'node_modules/.bin/tsc');

/**
 * What the schemas say about objects. The compiler finds fields that do not exist, which the schemas let pass; the schemas find wrong
 * types and missing fields. Neither knows which words a field may have.
 */
export async function wrongObjects(objects: readonly KubernetesObject[]): Promise<readonly string[]> {
  await install();
  writeFileSync(join(FOLDER, 'objects.ts'), objects.map(declaration).join('\n'));
  writeFileSync(join(FOLDER, 'validate.mjs'), VALIDATE);
  writeFileSync(
    join(FOLDER, 'objects.json'),
    JSON.stringify(objects.map((object) => ({ from: moduleOf(object), object }))),
  );
  const outputs = await Promise.all([
    output(TSC, ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--types', '', 'objects.ts']),
    output(process.execPath, ['validate.mjs']),
  ]);
  return outputs.flatMap((text) => text.split('\n').filter((line) => line.trim() !== ''));
}

async function install(): Promise<void> {
  if (existsSync(join(FOLDER, 'installed'))) return;
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(
    join(FOLDER, 'package.json'),
    JSON.stringify({ private: true, type: 'module', dependencies: PACKAGES }),
  );
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock'], { cwd: FOLDER });
  writeFileSync(join(FOLDER, 'installed'), '');
}

function moduleOf({ apiVersion }: KubernetesObject): string {
  const [group = '', version] = apiVersion.split('/');
  if (version === undefined) return `kubernetes-models/${group}`;
  return `${OF_OPERATORS[group] ?? 'kubernetes-models'}/${group}/${version}`;
}

function declaration(object: KubernetesObject, at: number): string {
  return `export const object${at}: import('${moduleOf(object)}').I${object.kind} = ${JSON.stringify(object)};`;
}

const VALIDATE = `import { readFileSync } from 'node:fs';
for (const { from, object } of JSON.parse(readFileSync('objects.json', 'utf8'))) {
  const { [object.kind]: Model } = await import(from);
  try {
    new Model(object).validate();
  } catch (failure) {
    console.log(object.kind + ' ' + object.metadata.name + ': ' + failure.message);
  }
}
`;

async function output(program: string, args: readonly string[]): Promise<string> {
  try {
    return (await run(program, args, { cwd: FOLDER, maxBuffer: 16 * 1024 * 1024 })).stdout;
  } catch (failure) {
    const { stdout = '', stderr = '' } = failure as { stdout?: string; stderr?: string };
    return `${stdout}${stderr}`;
  }
}
