import { spawn } from 'node:child_process';
import type { Io } from '../io.ts';

/** Opens an address in the browser of the person, which may fail: the address is printed too. `BROWSER` names another program. */
export function openBrowser(address: string, { env, platform }: Pick<Io, 'env' | 'platform'>): void {
  const [program, ...words] = commandOf(env, platform);
  if (program === undefined) return;
  const child = spawn(program, [...words, address], { detached: true, stdio: 'ignore', env: { ...env } });
  child.on('error', () => {});
  child.unref();
}

function commandOf(env: Io['env'], platform: NodeJS.Platform): readonly string[] {
  const given = env['BROWSER'] ?? '';
  if (given !== '') return given.split(' ');
  if (platform === 'darwin') return ['open'];
  // `start` of cmd reads `&` of an address as the end of a command.
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  return env['DISPLAY'] === undefined && env['WAYLAND_DISPLAY'] === undefined ? [] : ['xdg-open'];
}
