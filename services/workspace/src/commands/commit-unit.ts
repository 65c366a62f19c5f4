import type { InternalCommitReply } from '@wts/contracts';
import type { Model, RecordOf } from '@wts/models';

/** The first record of a model that the unit created or changed. */
export function recordOf<M extends Model>(reply: InternalCommitReply, { name }: M): RecordOf<M> {
  const mutation = reply.mutations.find(({ modelName }) => modelName === name);
  if (!mutation) throw new Error(`The commit gave back no ${name}`);
  return mutation.record as RecordOf<M>;
}
