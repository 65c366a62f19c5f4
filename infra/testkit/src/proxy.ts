import { freePort, launch } from '@wts/local';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findServer, untilAccepting } from './programs.ts';
import { scratch } from './scratch.ts';

/** A real reverse proxy, listening on 127.0.0.1. */
export interface Proxy extends AsyncDisposable {
  readonly port: number;
  /** All that it has logged. */
  logs(): string;
}

interface Kind {
  /** The Debian package. */
  readonly package: string;
  /** The file in `infra/proxies`. */
  readonly settings: string;
  /** Writes what only a test needs into `directory`. Returns the arguments of the program. */
  readonly prepare: (directory: string, settings: string) => readonly string[];
}

const KINDS = {
  nginx: { package: 'nginx-light', settings: 'nginx.conf', prepare: prepareNginx },
  haproxy: { package: 'haproxy', settings: 'haproxy.cfg', prepare: prepareHaproxy },
} satisfies Record<string, Kind>;

const SETTINGS = join(import.meta.dirname, '../../proxies');
/** The addresses of the proxy and of the gateway in the settings. */
const [OWN, GATEWAY] = ['127.0.0.1:8080', '127.0.0.1:4000'];
const STOP_MS = 5_000;

/**
 * Starts nginx or HAProxy with the settings of `infra/proxies` in front of a server on port `to`: the program on the PATH, or
 * on Debian the one of its packages, downloaded on first use. Without either it skips the test.
 */
export async function openProxy(
  context: Mocha.Context,
  name: keyof typeof KINDS,
  { to }: { readonly to: number },
): Promise<Proxy> {
  const kind: Kind = KINDS[name];
  const program = await findServer(name, kind.package);
  if (program === null) return context.skip();
  const port = await freePort();
  const directory = scratch(name);
  const settings = join(directory, kind.settings);
  const template = readFileSync(join(SETTINGS, kind.settings), 'utf8');
  const local = template.replaceAll('/var/log/nginx', directory);
  writeFileSync(settings, replaceAddress(replaceAddress(local, OWN, port), GATEWAY, to));
  const log = join(directory, `${name}.log`);
  const proxy = await launch({
    name,
    command: program.file,
    args: kind.prepare(directory, settings),
    env: program.env,
    log,
    background: true,
  });
  await untilAccepting(proxy, port);
  const files = (): string[] => [
    log,
    ...readdirSync(directory)
      .filter((file) => file.endsWith('.log'))
      .map((file) => join(directory, file)),
  ];
  return {
    port,
    logs: () => [...new Set(files())].map((file) => readFileSync(file, 'utf8')).join(''),
    [Symbol.asyncDispose]: async () => void (await proxy.stop('SIGTERM', STOP_MS)),
  };
}

function replaceAddress(settings: string, address: string, port: number): string {
  const [before, after, ...more] = settings.split(address);
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(`the settings must contain ${address} exactly once`);
  return `${before}127.0.0.1:${port}${after}`;
}

/** The target of logs depends on the machine, so the settings have none. */
function prepareHaproxy(directory: string, settings: string): readonly string[] {
  const target = join(directory, 'target.cfg');
  writeFileSync(target, 'global\n  log stdout format raw local0\n');
  return ['-db', '-f', target, '-f', settings];
}

/** Writes the main file, which includes the settings. One process only: workers of root run as a user who cannot read it. */
function prepareNginx(directory: string, settings: string): readonly string[] {
  const main = join(directory, 'main.conf');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${directory}/${kind};`,
  );
  writeFileSync(
    main,
    [
      'daemon off;',
      'master_process off;',
      `pid ${directory}/nginx.pid;`,
      'error_log stderr;',
      'events {}',
      `http { access_log off; ${temporary.join(' ')} include ${settings}; }`,
    ].join('\n'),
  );
  return ['-p', directory, '-e', 'stderr', '-c', main];
}
