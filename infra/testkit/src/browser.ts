import { join } from 'node:path';
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
 * Starts a real browser: the program in TEST_CHROMIUM, the installed Chromium, or on Debian the one of its packages,
 * downloaded on first use. Without any of them it skips the test, which then counts as skipped and not as passed.
 */
export async function openBrowser(context: Mocha.Context): Promise<Browser> {
  const executablePath = process.env['TEST_CHROMIUM'] ?? findProgram(NAMES, ELSEWHERE);
  const program = executablePath === undefined ? await fetchChromium() : { executablePath };
  if (program === null) return context.skip();
  // It takes 0.15 s of a processor to load, and few of the processes with tests need it.
  const { chromium } = await import('playwright-core');
  return chromium.launch({ ...program, timeout: START_MS });
}

async function fetchChromium(): Promise<Program | null> {
  const tree = await fetchPackage(PACKAGE);
  if (tree === null) return null;
  const { root, libraryPath } = tree;
  // Chromium must use the libraries, fonts and font configuration of the unpacked package.
  const [FONTCONFIG_PATH, XDG_DATA_HOME] = [join(root, 'etc/fonts'), join(root, 'usr/share')];
  const env = { ...process.env, LD_LIBRARY_PATH: libraryPath, FONTCONFIG_PATH, XDG_DATA_HOME };
  return { executablePath: join(root, 'usr/lib/chromium/chromium-headless-shell'), env };
}
