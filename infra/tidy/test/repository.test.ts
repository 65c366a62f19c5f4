import { ERROR_CODES, STREAM } from '@wts/contracts';
import { RULES } from '@wts/test-e2e/requirements';
import { absentScripts, unmarkedBlocks } from '../src/checks/blocks.ts';
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
} from '../src/checks/names.ts';
import { slowPatterns } from '../src/checks/patterns.ts';
import { privateEndsVerified } from '../src/checks/private-ends.ts';
import { links, machines, openEnds, secrets } from '../src/checks/prose.ts';
import { coverage } from '../src/checks/requirements.ts';
import { longFiles, longFunctions, readmes } from '../src/checks/sizes.ts';
import { oneVersion } from '../src/checks/versions.ts';
import { advisoryLocks, bounds, errorCodes, operations, producers, sqlOutsideStore } from '../src/checks/wiring.ts';
import { declaredOperations, declaredPatterns } from '../src/operations.ts';
import { ROOT, describeFinding, repositoryTree, trackedButIgnored, type Finding } from '../src/tree.ts';

const tree = repositoryTree();
const subjects = Object.entries(STREAM).flatMap(([key, value]) => (String(value).startsWith('wts.') ? [key] : []));

/** Of callers, of every service, and of single services. */
const BOUNDS = tree.files.filter((path) => /^(?:packages|services)\/.*\/limits\.ts$/.test(path));

const HOUSE_RULES: readonly (readonly [title: string, check: () => readonly Finding[]])[] = [
  ['holds only the top-level entries of the design', () => topLevel(tree)],
  ['has no drawers', () => drawers(tree)],
  ['names files in kebab-case', () => kebabCase(tree)],
  ['names types after things', () => vagueTypes(tree)],
  ['begins no title of a test with a code', () => codedTitles(tree)],
  ['names metrics by one scheme', () => metricNames(tree)],
  ['uses no retired term', () => retiredTerms(tree)],
  ['gives no number twice to migrations and decisions', () => numberedTwice(tree)],
  ['has one version, and an entry of it for users', () => oneVersion(tree)],
  ['takes no new version of a library on whose inside it relies unverified', () => privateEndsVerified(tree)],
  ['tracks nothing a tool makes', () => generated(tree, trackedButIgnored())],
  ['keeps files short enough to hold in the head', () => longFiles(tree)],
  ['keeps functions on one screen', () => longFunctions(tree, ROOT)],
  ['explains every folder in a short README', () => readmes(tree)],
  ['has no link that leads nowhere', () => links(tree)],
  ['marks every block of a document as run by a test, or not', () => unmarkedBlocks(tree)],
  ['names only scripts that exist', () => absentScripts(tree)],
  ['leaves no unnumbered open ends', () => openEnds(tree)],
  ['names no path or host of one machine', () => machines(tree)],
  ['holds no secret', () => secrets(tree)],
  ['gives and tests every error code', () => errorCodes(tree, ERROR_CODES)],
  ['gives each advisory lock a number of its own', () => advisoryLocks(tree)],
  ['mounts every operation, with a scope', () => operations(tree, declaredOperations())],
  ['has one producer per subject of the stream', () => producers(tree, subjects)],
  ['keeps SQL in stores and migrations', () => sqlOutsideStore(tree)],
  ['reads every bound it states [never.unbounded]', () => bounds(tree, BOUNDS)],
  ['has no pattern that takes more than linear time', () => slowPatterns(tree, declaredPatterns())],
  ['has a home and a test for every rule of the interface', () => coverage(tree, RULES)],
];

describe('the repository', () => {
  for (const [title, check] of HOUSE_RULES) {
    it(title, () => {
      const findings = check();
      if (findings.length > 0) throw new Error(`\n${findings.map(describeFinding).join('\n')}`);
    });
  }
});
