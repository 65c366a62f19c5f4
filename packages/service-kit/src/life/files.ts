import { LIMITS } from '@wts/contracts';
import type { Logger } from '../observe/logger.ts';
import { SetupError } from './setup-error.ts';

const RAISE = 'raise the limit of open files (ulimit -n; LimitNOFILE of systemd; ulimits of a container)';

/** Files, sockets among them, that this process may have open. Node has raised its limit as far as the system allows. */
export function openFilesMax(): number {
  const { report } = process;
  // The names of addresses are not asked for: looking them up can take seconds. @types/node does not know the switch yet.
  Object.assign(report, { excludeNetwork: true });
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft: number | 'unlimited' } } };
  const soft = userLimits?.open_files?.soft ?? 'unlimited';
  return soft === 'unlimited' ? Infinity : soft;
}

/**
 * The connections a process can hold of those it is asked to. Beyond the system's limit a connection would be cut before
 * it could be told why, and stores and spools would fail for want of a file.
 */
export function connectionsWithin(
  files: number,
  { wanted, filesEach }: { readonly wanted: number; readonly filesEach: number },
  log: Pick<Logger, 'warn'>,
): number {
  const possible = Math.floor((files - LIMITS.filesReserved) / (filesEach + LIMITS.connectionsRefusedShare));
  if (possible >= wanted) return wanted;
  if (possible < LIMITS.connectionsMin) {
    throw new SetupError(`This process may open ${files} files, which is too few to serve anybody; ${RAISE}.`);
  }
  log.warn(
    { filesMax: files, connectionsMax: possible, wanted },
    `few files may be opened, so fewer connections are taken than CONNECTIONS_MAX; ${RAISE}`,
  );
  return possible;
}
