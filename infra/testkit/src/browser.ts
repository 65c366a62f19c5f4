import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';
import { fetchPackage, findProgram } from './programs.ts';

export type { Page } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const ELSEWHERE = ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'];
const START_MS = 60_000;
const PACKAGE = 'chromium-headless-shell';

interface Program {
  readonly executablePath: string;
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * A real browser: the one TEST_CHROMIUM names, the Chromium of this machine, or on Debian the one of its packages, fetched
 * the first time. Where none can be had, the test that asks is skipped, which is counted as such and not as passed.
 */
export async function openBrowser(context: Mocha.Context): Promise<Browser> {
  const executablePath = process.env['TEST_CHROMIUM'] ?? findProgram(NAMES, ELSEWHERE);
  const program = executablePath === undefined ? await fetchChromium() : { executablePath };
  if (program === null) return context.skip();
  return chromium.launch({ ...program, timeout: START_MS });
}

async function fetchChromium(): Promise<Program | null> {
  const tree = await fetchPackage(PACKAGE);
  if (tree === null) return null;
  const { root, libraryPath } = tree;
  // Libraries, the way to fonts and the fonts themselves lie in the tree, not where Chromium would look.
  const [FONTCONFIG_PATH, XDG_DATA_HOME] = [join(root, 'etc/fonts'), join(root, 'usr/share')];
  const env = { ...process.env, LD_LIBRARY_PATH: libraryPath, FONTCONFIG_PATH, XDG_DATA_HOME };
  return { executablePath: join(root, 'usr/lib/chromium/chromium-headless-shell'), env };
}
