/** `npm run chart`: renders the chart with Helm 3 and 4 and checks what comes out, or runs Helm. */
import { optionsOrExit, runTask } from '@wts/local';
import { spawnSync } from 'node:child_process';
import { checkChart } from './checks.ts';
import { openHelms } from './helm.ts';

const USAGE = `npm run chart [-- helm ARGUMENTS]

Checks infra/chart: lints and renders each profile, each example and all parts with Helm 4 and 3, and compares what comes out with
the schemas of Kubernetes and of operators, with Pod Security "restricted", with the calls of services and with their settings.

  helm ARGUMENTS    runs the Helm 4 that the checks use: npm run chart -- helm template wts infra/chart -f values.yaml

Helm comes from a package of npm (Linux on x64), or is the program in HELM.`;

const given = process.argv.slice(2);
if (given[0] === 'helm') {
  const [helm] = await openHelms();
  process.exit(spawnSync(helm?.program ?? 'helm', given.slice(1), { stdio: 'inherit' }).status ?? 1);
}
optionsOrExit(USAGE, {});
await runTask(async () => {
  let failures = 0;
  for (const helm of await openHelms()) failures += await checkChart(helm);
  return failures === 0 ? 0 : 1;
});
