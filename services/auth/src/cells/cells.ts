import { commitUnitSender, openServiceClient, type CommitUnitSender, type ServiceClient } from '@wts/service-kit/call';
import type { ServiceContext } from '@wts/service-kit/life';
import { openNats, revocationSender, type RevocationSender } from '@wts/service-kit/nats';
import type { Config } from '../config.ts';
import { cellAt } from '../domain/cells-setting.ts';

/** A whole installation without auth, for the workspaces that live there: infra/decisions/0040. */
export interface Cell {
  readonly shard: number;
  readonly baseUrl: string;
  readonly sync: ServiceClient;
  readonly workspace: ServiceClient;
  /** Null without CELLS: only moves need it. */
  readonly dispatcher: ServiceClient | null;
  readonly commitUnit: CommitUnitSender;
}

export interface Cells {
  /** In the order of their numbers. */
  readonly all: readonly Cell[];
  /** Cell 0, in which new people are created: everyone has a record there. */
  readonly home: Cell;
  /** There is no other cell: then nothing has to be looked up. */
  readonly isOne: boolean;
  /** Rejects with `unavailable` for one that CELLS no longer names. */
  of(shard: number): Cell;
}

/** Without CELLS there is one, with the addresses of the other settings. */
export function openCells(kit: ServiceContext, config: Config): Cells {
  const { baseUrl, syncUrls, workspaceUrls } = config;
  const settings = config.cells ?? [{ shard: 0, baseUrl, syncUrls, workspaceUrls, dispatcherUrls: [] }];
  const all = settings.map((one): Cell => {
    const sync = openServiceClient(kit, 'sync', one.syncUrls);
    return {
      shard: one.shard,
      baseUrl: one.baseUrl,
      sync,
      workspace: openServiceClient(kit, 'workspace', one.workspaceUrls),
      dispatcher:
        one.dispatcherUrls.length === 0 ? null : openServiceClient(kit, 'webhook-dispatcher', one.dispatcherUrls),
      commitUnit: commitUnitSender(sync),
    };
  });
  const [home] = all;
  if (home === undefined) throw new Error('CELLS names no cell');
  return { all, home, isOne: all.length === 1, of: (shard) => cellAt(all, shard) };
}

/** Announces revoked credentials in each NATS: a credential is of all cells. */
export function openRevocations(
  { log, stack }: Pick<ServiceContext, 'log' | 'stack'>,
  { cells = [], natsUrls, natsOtherPassword }: Config,
): RevocationSender {
  const clusters = new Map([natsUrls, ...cells.map((cell) => cell.natsUrls)].map((urls) => [urls.join(','), urls]));
  const senders = [...clusters.values()].map((urls) =>
    revocationSender(openNats({ natsUrls: urls, natsOtherPassword, name: 'wts-auth', log, stack }), log),
  );
  return async (revocation) => {
    await Promise.all(senders.map((send) => send(revocation)));
  };
}
