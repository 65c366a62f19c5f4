import type { EntryChunk } from '@wts/contracts';
import { setTrace } from '@wts/log/stream';
import { endSpan, headerOf, inSpan, startLinkedSpan } from '@wts/service-kit/observe';
import type { Batch } from './batch.ts';

/**
 * Commits a batch in a span of its own when it has recorded requests: a child of the first one, with a link to each. The committed
 * entries carry the trace on, into messages. Otherwise the batch is part of no trace, whichever request started it.
 */
export async function traced<T>(batch: Batch, chunks: readonly EntryChunk[], commit: () => Promise<T>): Promise<T> {
  const causes = batch.traces;
  const span = startLinkedSpan('commit batch', { kind: 'INTERNAL', causes, isChild: true });
  if (span === null) return inSpan(null, commit);
  span.setAttributes({ 'wts.batch.kind': batch.kind, 'wts.batch.units': batch.units.length });
  try {
    const results = await inSpan(span, commit);
    endSpan(span);
    return results;
  } catch (failure) {
    endSpan(span, failure);
    throw failure;
  } finally {
    for (const chunk of chunks) setTrace(chunk, headerOf(span));
  }
}
