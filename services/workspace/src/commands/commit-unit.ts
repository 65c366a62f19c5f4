import type { InternalCommitReply } from '@wts/contracts';
import type { Model, RecordOf } from '@wts/models';
import type { CallTrace } from '@wts/service-kit/call';
import type { EffectSource } from '@wts/service-kit/routes';

/** What a request passes to every call it causes, and where the ids of what it creates come from. */
export type Trace = CallTrace & EffectSource;

/** The first record of a model that the unit created or changed. */
export function recordOf<M extends Model>(reply: InternalCommitReply, { name }: M): RecordOf<M> {
  const mutation = reply.mutations.find(({ modelName }) => modelName === name);
  if (!mutation) throw new Error(`The commit gave back no ${name}`);
  return mutation.record as RecordOf<M>;
}
