import { Fault, isUuid, parseSyncId, type BootstrapParameters, type Principal } from '@wts/contracts';
import { MODELS, MODEL_NAMES, unknownModel, type Model } from '@wts/models';

/** The parameters of a bootstrap, parsed. */
export interface ParsedBootstrap {
  readonly userId: string;
  /** The workspace that the credential is limited to. */
  readonly workspaceId: string | null;
  readonly models: readonly Model[];
  /** Groups to narrow to; null for all the caller may see. */
  readonly groups: ReadonlySet<string> | null;
  /** The client loads these groups in addition to others that it has and follows. */
  readonly isPartial: boolean;
  readonly schemaHash: string;
  /** The answer must show at least this position. */
  readonly reached: bigint;
}

export function parseBootstrap(principal: Principal, parameters: BootstrapParameters): ParsedBootstrap {
  const groups = namesIn(parameters.syncGroups);
  return {
    userId: principal.userId,
    workspaceId: principal.workspaceId ?? null,
    models: readModels(parameters.onlyModels),
    groups: groups === null ? null : readGroups(groups, principal.userId, parameters.type),
    isPartial: parameters.type === 'partial',
    schemaHash: parameters.schemaHash ?? '',
    reached: parseSyncId(parameters.firstSyncId) ?? 0n,
  };
}

/**
 * At every full load, published clients repeat the groups of their last answer. A client that was offline would never get a
 * group gained meanwhile, because the snapshot is later than the gain. So a full load that names the person's own group
 * means all groups. Keeps sync.client.compatible.
 */
function readGroups(named: readonly string[], userId: string, type: string | undefined): ReadonlySet<string> | null {
  if (type === 'full' && named.includes(userId)) return null;
  // A name that is no UUID matches no group; a request with such names only gets nothing.
  return new Set(named.filter(isUuid).map((group) => group.toLowerCase()));
}

/** Exactly the named models, because a client fails on any other; in the order of the registry. Keeps sync.bootstrap.only-models. */
function readModels(list: string | undefined): readonly Model[] {
  const names = namesIn(list);
  if (names === null) return MODELS;
  const known = new Set<string>(MODEL_NAMES);
  const unknown = names.find((name) => !known.has(name));
  if (unknown !== undefined) throw new Fault('validation_failed', { message: `onlyModels: ${unknownModel(unknown)}` });
  const requested = new Set(names);
  return MODELS.filter(({ name }) => requested.has(name));
}

/** Null when the list is empty, which means everything. */
export function namesIn(list: string | undefined): string[] | null {
  const names = (list ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return names.length === 0 ? null : names;
}
