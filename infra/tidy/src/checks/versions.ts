import type { Finding, Tree } from '../tree.ts';

const MANIFEST = /(?:^|\/)package\.json$/;

/** The repository has one version: a package that is published repeats it, and the changelog has its entry (decision 0005). */
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
  if (!tree.read('CHANGELOG.md').includes(`\n## ${version}\n`)) {
    findings.push({ path: 'CHANGELOG.md', message: `has no entry "## ${version}": write for users what changed` });
  }
  return findings;
}

function versionIn(tree: Tree, path: string): string | undefined {
  return (JSON.parse(tree.read(path)) as { version?: string }).version;
}
