import type { Finding, Tree } from '../tree.ts';

const MANIFEST = /(?:^|\/)package\.json$/;

const CHART = 'infra/chart/Chart.yaml';

/** The repository has one version: what is published repeats it, and the changelog begins with its entry (decision 0005). */
export function oneVersion(tree: Tree): Finding[] {
  const version = versionIn(tree, 'package.json');
  const others = tree.files.filter((path) => MANIFEST.test(path) && path !== 'package.json');
  const findings: Finding[] = others.flatMap((path) => {
    const own = versionIn(tree, path);
    return own === undefined || own === version
      ? []
      : [
          {
            path,
            message: `has version ${own}, but the repository has ${version}: take it, or have none when private`,
          },
        ];
  });
  for (const [line, own] of tree.read(CHART).matchAll(/^(?:version|appVersion): (.*)$/gm))
    if (own !== version) findings.push({ path: CHART, message: `has "${line}", but the repository has ${version}` });
  const entry = version?.endsWith('-dev') === true ? 'Unreleased' : version;
  const first = /^## (.*)$/m.exec(tree.read('CHANGELOG.md'))?.[1];
  if (first !== entry) {
    const message = `begins with "## ${first}" instead of "## ${entry}", because the version is ${version}`;
    findings.push({ path: 'CHANGELOG.md', message });
  }
  return findings;
}

function versionIn(tree: Tree, path: string): string | undefined {
  return (JSON.parse(tree.read(path)) as { version?: string }).version;
}
