import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './layout.ts';
import { SERVICES } from './services.ts';

interface Description {
  readonly variable: string;
  readonly kind: string;
  readonly doc: string;
  readonly required: boolean;
  readonly secret: boolean;
  readonly default?: string;
}

/** Asks every service what it can be configured by, and lists it: what all of them have first, then each one's own. */
export async function settingsReference(): Promise<string> {
  const services = await Promise.all(SERVICES.map(({ name }) => describe(name)));
  const [first, ...others] = services;
  const common = (first?.settings ?? []).filter((setting) =>
    others.every(({ settings }) => settings.some((one) => same(one, setting))),
  );
  const sections = [
    section('Every service', common),
    ...services.map(({ name, settings }) =>
      section(
        name,
        settings.filter((setting) => !common.some((one) => same(one, setting))),
      ),
    ),
  ];
  return `# Settings

Every service is configured by environment variables, read once at its start. Whatever is wrong or missing is said in one
message, and nothing is half-started. Made by \`npm run settings\`; edit the \`config.ts\` of a service, not this page.

${sections.join('\n')}`;
}

async function describe(name: string): Promise<{ name: string; settings: readonly Description[] }> {
  const main = join(ROOT, 'services', name, 'src', 'main.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [main, '--settings']);
  return JSON.parse(stdout) as { name: string; settings: readonly Description[] };
}

function same(a: Description, b: Description): boolean {
  return a.variable === b.variable && a.doc === b.doc && a.default === b.default;
}

function section(title: string, settings: readonly Description[]): string {
  const rows = settings.map(({ variable, kind, doc, required, secret, default: fallback }) => {
    const value = required ? '**required**' : fallback === undefined ? '' : `\`${fallback}\``;
    return `| \`${variable}\` | ${cell(kind)}${secret ? ', secret' : ''} | ${fallback === '' ? '' : value} | ${cell(doc)} |`;
  });
  return `## ${title}\n\n| variable | kind | default | meaning |\n|---|---|---|---|\n${rows.join('\n')}\n`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
