import type { BootstrapQuestion, Principal } from '@wts/contracts';
import { Fault, isUuid, parseSyncId } from '@wts/contracts';
import { MODELS, MODEL_NAMES, unknownModel, type Model } from '@wts/models';

/** What is asked for, read from the parameters. */
export interface Question {
  readonly userId: string;
  /** The workspace a credential is limited to. */
  readonly workspaceId: string | null;
  readonly models: readonly Model[];
  /** Groups to narrow to; null for all the caller may see. */
  readonly groups: ReadonlySet<string> | null;
  /** Asked for beside what the client has of its other groups, which it follows as well. */
  readonly isPartial: boolean;
  readonly schemaHash: string;
  /** A place the caller knows of; the answer must have reached it. */
  readonly reached: bigint;
}

export function readQuestion(principal: Principal, asked: BootstrapQuestion): Question {
  const groups = namesIn(asked.syncGroups);
  return {
    userId: principal.userId,
    workspaceId: principal.workspaceId ?? null,
    models: readModels(asked.onlyModels),
    groups: groups === null ? null : readGroups(groups, principal.userId, asked.type),
    isPartial: asked.type === 'partial',
    schemaHash: asked.schemaHash ?? '',
    reached: parseSyncId(asked.firstSyncId) ?? 0n,
  };
}

/**
 * Published clients repeat at every full load the groups they were told of last. Whoever has been away would never hear
 * of a group gained meanwhile: the snapshot lies behind the gain. Who follows their own group follows their memberships,
 * so that list stands for all. Keeps sync.client.compatible.
 */
function readGroups(named: readonly string[], userId: string, type: string | undefined): ReadonlySet<string> | null {
  if (type === 'full' && named.includes(userId)) return null;
  // A group that is no id is nobody's; asking for it alone asks for nothing.
  return new Set(named.filter(isUuid).map((group) => group.toLowerCase()));
}

/** Strict, because a client that is sent a model it did not ask for fails as a whole. In the order of the registry. Keeps sync.bootstrap.only-models. */
function readModels(list: string | undefined): readonly Model[] {
  const names = namesIn(list);
  if (names === null) return MODELS;
  const known = new Set<string>(MODEL_NAMES);
  const unknown = names.find((name) => !known.has(name));
  if (unknown !== undefined) throw new Fault('validation_failed', { message: `onlyModels: ${unknownModel(unknown)}` });
  const asked = new Set(names);
  return MODELS.filter(({ name }) => asked.has(name));
}

/** Null when nothing is named: then everything is meant. */
function namesIn(list: string | undefined): string[] | null {
  const names = (list ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return names.length === 0 ? null : names;
}
