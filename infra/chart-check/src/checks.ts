import { LOCAL } from '@wts/local';
import assert from 'node:assert/strict';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { wrongArrows, wrongArrowsOfCells } from './arrows.ts';
import { wrongEnvironment } from './environment.ts';
import type { Helm } from './helm.ts';
import { wrongObjects } from './models.ts';
import { nameOf, parseObjects, podOf, type KubernetesObject } from './objects.ts';
import { violations } from './pod-security.ts';

const ROOT = dirname(LOCAL);
const CHART = join(ROOT, 'infra/chart');
const VALUES = join(import.meta.dirname, '../values');
const URLS = ['--set', 'baseUrl=https://api.example.com', '--set', 'authUrl=https://auth.example.com'];
const NAMESPACE = 'production';

/** What is rendered: arguments of Helm by a name. */
const VARIANTS: Readonly<Record<string, readonly string[]>> = {
  defaults: URLS,
  small: [...URLS, '--values', join(CHART, 'values-small.yaml')],
  large: [...URLS, '--values', join(CHART, 'values-large.yaml')],
  ...filesAs(VALUES, '*.yaml', []),
  'examples of CloudNativePG and NATS': [...URLS, ...exampleValues('managed-roles', 'nats')],
  'examples with PgBouncer': [...URLS, ...exampleValues('managed-roles', 'pgbouncer')],
  'cell 0, with auth': cells().wts,
  'cell 1': cells().one,
};

/** Prints each check, and returns how many failed. */
export async function checkChart(helm: Helm): Promise<number> {
  console.log(`Helm ${await helm.version()}`);
  let failures = 0;
  const check: Check = async (what, work) => {
    const findings = await work().catch((failure: unknown) => [(failure as Error).message]);
    console.log(`  ${findings.length === 0 ? '✓' : '✗'} ${what}`);
    for (const finding of findings) console.log(`      ${finding}`);
    failures += findings.length;
  };
  for (const [name, args] of Object.entries(VARIANTS)) {
    let objects: readonly KubernetesObject[] = [];
    await check(`${name}: is linted, and rendered twice the same`, async () => {
      await helm.run('lint', '--strict', '--quiet', CHART, ...args);
      const rendered = await template(helm, CHART, args);
      assert.equal(await template(helm, CHART, args), rendered);
      objects = parseObjects(rendered);
      return objects
        .filter(({ metadata }) => metadata.namespace !== NAMESPACE)
        .map((one) => `${nameOf(one)} has no namespace`);
    });
    if (objects.length === 0) continue;
    await check(`${name}: ${objects.length} objects have the fields that Kubernetes knows`, () =>
      wrongObjects(objects),
    );
    await check(`${name}: every pod keeps Pod Security "restricted", and writes no root file system`, async () =>
      objects.flatMap(podFindings),
    );
    await check(`${name}: policies allow what services call, and nothing else`, async () => wrongArrows(objects));
    await check(`${name}: services accept their environment`, async () => {
      const deployments = objects.filter(({ kind }) => kind === 'Deployment');
      return (await Promise.all(deployments.map(wrongEnvironment))).flat();
    });
  }
  await checkCells(helm, check);
  await check('a value that does not exist is refused', () => refusals(helm, 'replicas=2', /replicas/));
  await check('a setting that a service does not have is refused', () =>
    refusals(helm, 'services.graph.settings.TRUSTED_PROXIES=x', /TRUSTED_PROXIES/),
  );
  await check('a value that is gone is refused with what to use', () =>
    refusals(helm, 'replicaCount=2', /use `defaults\.replicas`/),
  );
  await check('a chart without public addresses is refused', async () => {
    const said = await helm.refusal('template', 'wts', CHART);
    return said.includes('baseUrl is missing: set it to the public address') ? [] : [said];
  });
  await check('every example is YAML', async () =>
    globSync('examples/*.yaml', { cwd: CHART }).flatMap((file) =>
      parseObjects(readFileSync(join(CHART, file), 'utf8')).length > 0 ? [] : [file],
    ),
  );
  await check('no template looks into a cluster or draws at random', async () =>
    globSync('templates/**', { cwd: CHART, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .flatMap(({ parentPath, name }) => {
        const text = readFileSync(join(parentPath, name), 'utf8');
        return /\b(lookup|rand\w+|genCA|gen\w+Cert|genPrivateKey|uuidv4|now|htpasswd)\b(?= )/.test(
          text.replaceAll(/\{\{\/\*.*?\*\/\}\}|^\s*#.*$/gms, ''),
        )
          ? [name]
          : [];
      }),
  );
  await check('the packaged chart, and one inside another chart, render the same', () => packaged(helm));
  return failures;
}

type Check = (what: string, work: () => Promise<readonly string[]>) => Promise<void>;

/** By the namespaces that their examples name. */
function cells() {
  return { wts: [...URLS, ...exampleValues('cells')], one: exampleValues('cell') };
}

async function checkCells(helm: Helm, check: Check): Promise<void> {
  await check('between two cells only auth calls and is called', async () => {
    const { wts, one } = cells();
    const rendered = { wts: await template(helm, CHART, wts), one: await template(helm, CHART, one) };
    return wrongArrowsOfCells({ wts: parseObjects(rendered.wts), one: parseObjects(rendered.one) });
  });
  await check('a cell that is listed as another one is refused', async () => {
    const said = await helm.refusal('template', 'wts', CHART, ...cells().wts, '--set', 'cell.shard=1');
    return said.includes('cells has 1, the shard of this installation') ? [] : [said];
  });
  await check(
    'a further cell with auth is refused, and one without serves only its own address, with its agents',
    async () => {
      const { one } = cells();
      const said = await helm.refusal('template', 'wts', CHART, ...URLS, '--set', 'cell.shard=1');
      const objects = parseObjects(
        await template(helm, CHART, [...one, '--set', 'ingress.enabled=true,tls.enabled=true']),
      );
      const hosts = objects.flatMap(({ kind, spec }) =>
        kind === 'Ingress' ? (spec as { rules: { host: string }[] }).rules.map(({ host }) => host) : [],
      );
      const agent = JSON.stringify(
        objects.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'wts-agent'),
      );
      return [
        ...(said.includes('cell.shard is 1, and this installation has auth') ? [] : [said]),
        ...(hosts.join(' ') === 'api1.example.com' ? [] : hosts),
        ...(/"SHARD","value":"1"/.test(agent) && /"BASE_URL","value":"https:..api1/.test(agent) ? [] : [agent]),
      ];
    },
  );
}

function exampleValues(...names: string[]): readonly string[] {
  return names.flatMap((name) => ['--values', join(CHART, `examples/values-${name}.yaml`)]);
}

function filesAs(folder: string, pattern: string, more: readonly string[]): Record<string, readonly string[]> {
  const files = globSync(pattern, { cwd: folder }).toSorted();
  return Object.fromEntries(files.map((file) => [file, [...more, '--values', join(folder, file)]]));
}

async function template(helm: Helm, chart: string, args: readonly string[]): Promise<string> {
  return helm.run('template', 'wts', chart, '--namespace', NAMESPACE, ...args);
}

function podFindings(object: KubernetesObject): readonly string[] {
  const pod = podOf(object);
  if (pod === null) return [];
  const writable = [...(pod.initContainers ?? []), ...pod.containers].filter(
    ({ securityContext }) => securityContext?.readOnlyRootFilesystem !== true,
  );
  return [...violations(pod), ...writable.map(({ name }) => `container ${name} may write its root`)].map(
    (problem) => `${nameOf(object)}: ${problem}`,
  );
}

async function refusals(helm: Helm, value: string, said: RegExp): Promise<readonly string[]> {
  const message = await helm.refusal('template', 'wts', CHART, ...URLS, '--set', value);
  return said.test(message) ? [] : [message];
}

async function packaged(helm: Helm): Promise<readonly string[]> {
  const work = mkdtempSync(join(tmpdir(), 'wts-chart-'));
  try {
    const args = ['--values', join(VALUES, 'everything.yaml')];
    await helm.run('package', CHART, '--destination', work);
    const [archive = ''] = globSync('wts-*.tgz', { cwd: work });
    const direct = parseObjects(await template(helm, CHART, args));
    assert.deepEqual(parseObjects(await template(helm, join(work, archive), args)), direct);
    const outer = join(work, 'outer');
    mkdirSync(join(outer, 'charts'), { recursive: true });
    writeFileSync(join(outer, 'Chart.yaml'), 'apiVersion: v2\nname: outer\nversion: 0.1.0\n');
    const own = readFileSync(join(VALUES, 'everything.yaml'), 'utf8').replaceAll(/^/gm, '  ');
    writeFileSync(join(outer, 'values.yaml'), `global: { other: 1 }\nwts:\n${own}`);
    cpSync(join(work, archive), join(outer, 'charts', archive));
    assert.deepEqual(parseObjects(await template(helm, outer, [])), direct);
    return [];
  } finally {
    rmSync(work, { recursive: true });
  }
}
