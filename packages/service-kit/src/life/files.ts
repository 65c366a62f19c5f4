import { LIMITS } from '@wts/contracts';
import type { Logger } from '../observe/logger.ts';
import { SetupError } from '../config/setup-error.ts';

const RAISE = 'raise the limit of open files (ulimit -n; LimitNOFILE of systemd; ulimits of a container)';

/** Files, sockets among them, that this process may have open. Node has raised its limit as far as the system allows. */
export function openFilesMax(): number {
  const { report } = process;
  // Without the host names of connections, whose look-up can take seconds. @types/node lacks this option.
  Object.assign(report, { excludeNetwork: true });
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft: number | 'unlimited' } } };
  const soft = userLimits?.open_files?.soft ?? 'unlimited';
  return soft === 'unlimited' ? Infinity : soft;
}

/**
 * The number of connections a process can hold, at most `wanted`. Over the system's limit of files a connection would be closed
 * without a reply, and database connections and spools could not be opened.
 */
export function connectionsWithin(
  files: number,
  { wanted, filesEach }: { readonly wanted: number; readonly filesEach: number },
  log: Pick<Logger, 'warn'>,
): number {
  const possible = Math.floor((files - LIMITS.filesReserved) / (filesEach + LIMITS.connectionsRefusedShare));
  if (possible >= wanted) return wanted;
  if (possible < LIMITS.connectionsMin)
    throw new SetupError(`This process may open ${files} files, which is too few to serve requests; ${RAISE}.`);
  log.warn(
    { filesMax: files, connectionsMax: possible, wanted },
    `few files may be opened, so fewer connections are accepted than CONNECTIONS_MAX; ${RAISE}`,
  );
  return possible;
}
