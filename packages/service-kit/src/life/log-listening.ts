import type { Logger } from '../observe/logger.ts';

const THIS_MACHINE = 'this machine only; HOST=0.0.0.0 opens it to others';
const OTHERS =
  'other machines too; only the gateway is made for a public network, the other services expect a private one';

/** Logs the address of a service, and whether other machines can reach it. */
export function logListening(log: Logger, host: string, port: number, fields: object = {}): void {
  log.info({ host, port, ...fields, reachableFrom: isLoopback(host) ? THIS_MACHINE : OTHERS }, 'listening');
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}
