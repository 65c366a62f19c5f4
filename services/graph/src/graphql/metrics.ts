import { metricsOf, REQUEST_SECONDS } from '@wts/service-kit/observe';
import { Counter, type Registry } from 'prom-client';
import type { DocumentOutcome } from './documents.ts';
import { NOT_DIRECT, type NotDirect } from './direct.ts';
import type { GraphErrorCode } from '../domain/errors.ts';

/** An operation that has ended, or was refused. */
export interface OperationRecord {
  /** Null when the document was refused. */
  readonly kind: 'query' | 'mutation' | null;
  readonly codes: readonly GraphErrorCode[];
  /** How it was answered; null when it ended before. */
  readonly way: 'direct' | NotDirect | null;
  readonly cost: { readonly nodes: number } | null;
  readonly seconds: number;
}

export interface OperationMetrics {
  observe(record: OperationRecord): void;
  documentFound(outcome: DocumentOutcome): void;
  watchDocuments(documents: { readonly bytes: number }): void;
  watchAnswers(answers: { readonly bytes: number; readonly refused: number }): void;
}

export function operationMetrics(registry: Registry): OperationMetrics {
  const { counter, histogram, watch } = metricsOf(registry);
  const durations = histogram(
    'wts_graphql_operation_seconds',
    'Time of operations, from the checked request to the result.',
    REQUEST_SECONDS,
    'kind',
  );
  const nodes = histogram(
    'wts_graphql_operation_nodes',
    'Records that the lists of an operation could return. Operations over the budget are not in it.',
    [1, 10, 50, 100, 500, 1000, 2500, 5000, 10_000],
  );
  const errors = counter(
    'wts_graphql_errors_total',
    'Errors in answers, by their code. INTERNAL and UNAVAILABLE are faults of this system, the others of callers.',
    'code',
  );
  const byWay = operationsByWay(registry);
  const documents = counter(
    'wts_graphql_documents_total',
    'Documents that were in memory (known), were parsed and validated (read), or were refused.',
    'outcome',
  );
  // Labels are resolved once per series, because resolving them costs more than observing.
  const byKind = seriesOf(['query', 'mutation', 'refused'], (kind) => durations.labels({ kind }));
  const byOutcome = seriesOf(['known', 'read', 'refused'], (outcome) => documents.labels({ outcome }));
  return {
    observe({ kind, codes, way, cost, seconds }) {
      byKind[kind ?? 'refused'].observe(seconds);
      if (cost !== null) nodes.observe(cost.nodes);
      if (way !== null) byWay[way].inc();
      for (const code of codes) errors.inc({ code });
    },
    documentFound: (outcome) => byOutcome[outcome].inc(),
    watchDocuments: (cached) =>
      watch('wts_graphql_documents_bytes', 'Memory of the documents that are known, about.', () => cached.bytes),
    watchAnswers(answers) {
      const unread = 'Answers that are being read from PostgreSQL, or that their clients have not received.';
      watch('wts_graphql_answers_bytes', unread, () => answers.bytes);
      void new Counter({
        name: 'wts_graphql_answers_refused_total',
        help: 'Requests refused because the unread answers of their person take too much memory.',
        registers: [registry],
        collect() {
          this.reset();
          this.inc(answers.refused);
        },
      });
    },
  };
}

function operationsByWay(registry: Registry): Readonly<Record<'direct' | NotDirect, { inc(): void }>> {
  const reasons = Object.entries(NOT_DIRECT).map(([reason, why]) => `${reason}: ${why}`);
  const operations = metricsOf(registry).counter(
    'wts_graphql_operations_total',
    `Operations by how they were answered. direct: PostgreSQL made the whole answer. Others were executed by graphql-js, because: ${reasons.join(' ')}`,
    'way',
  );
  return seriesOf(['direct', ...(Object.keys(NOT_DIRECT) as NotDirect[])], (way) => operations.labels({ way }));
}

function seriesOf<Label extends string, Series>(
  labels: readonly Label[],
  series: (label: Label) => Series,
): Readonly<Record<Label, Series>> {
  return Object.fromEntries(labels.map((label) => [label, series(label)])) as Record<Label, Series>;
}
