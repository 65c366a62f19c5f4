import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';

export type { Page } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const ELSEWHERE = ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'];
const START_MS = 60_000;

/**
 * A real browser: the Chromium of this machine, or the one TEST_CHROMIUM names. Where there is none, the test that asks
 * is skipped, which is counted as such and not as passed: none comes with the dependencies.
 */
export async function openBrowser(context: Mocha.Context): Promise<Browser> {
  const executablePath = process.env['TEST_CHROMIUM'] ?? findChromium();
  if (executablePath === undefined) return context.skip();
  return chromium.launch({ executablePath, timeout: START_MS });
}

function findChromium(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const candidates = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return [...candidates, ...ELSEWHERE].find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
