/** The newest traces, as services send them by OTLP over HTTP in JSON. */

export interface TraceSpan {
  readonly id: string;
  readonly parentId: string | null;
  readonly service: string;
  readonly name: string;
  readonly startMs: number;
  readonly durationMs: number;
  readonly isFailed: boolean;
  readonly attributes: readonly (readonly [name: string, value: string])[];
  /** The traces that it links to. */
  readonly links: readonly string[];
}

export interface Trace {
  readonly id: string;
  readonly spans: readonly TraceSpan[];
}

const TRACES_MAX = 200;
const SPANS_OF_TRACE_MAX = 200;
const TEXT_MAX = 200;

interface OtlpValue {
  readonly [kind: string]: unknown;
}

interface OtlpAttribute {
  readonly key: string;
  readonly value: OtlpValue;
}

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly OtlpAttribute[];
  readonly links?: readonly { readonly traceId: string }[];
  readonly status?: { readonly code?: number };
}

interface OtlpExport {
  readonly resourceSpans?: readonly {
    readonly resource?: { readonly attributes?: readonly OtlpAttribute[] };
    readonly scopeSpans?: readonly { readonly spans?: readonly OtlpSpan[] }[];
  }[];
}

const FAILED = 2;

export class Traces {
  /** The newest last. */
  readonly #traces = new Map<string, TraceSpan[]>();

  /** Throws for what is no export. */
  add(body: string): void {
    for (const { resource, scopeSpans = [] } of (JSON.parse(body) as OtlpExport).resourceSpans ?? []) {
      const name = resource?.attributes?.find(({ key }) => key === 'service.name')?.value;
      const service = name === undefined ? '' : textOf(name);
      for (const { spans = [] } of scopeSpans) for (const span of spans) this.#addSpan(service, span);
    }
  }

  /** The newest first. */
  get all(): readonly Trace[] {
    return [...this.#traces].map(([id, spans]) => ({ id, spans })).toReversed();
  }

  /** Those that no other one caused. */
  get entries(): readonly Trace[] {
    return this.all.filter(({ id, spans }) => !spans.some(({ links }) => links.some((link) => link !== id)));
  }

  find(id: string): Trace | null {
    const spans = this.#traces.get(id);
    return spans === undefined ? null : { id, spans: spans.toSorted((one, other) => one.startMs - other.startMs) };
  }

  /** Of what it caused, in traces of their own. */
  linkedTo(id: string): readonly Trace[] {
    return this.all.filter((other) => other.id !== id && other.spans.some(({ links }) => links.includes(id)));
  }

  #addSpan(service: string, span: OtlpSpan): void {
    const spans = this.#traces.get(span.traceId) ?? [];
    if (spans.length < SPANS_OF_TRACE_MAX) spans.push(spanOf(service, span));
    this.#traces.set(span.traceId, spans);
    for (const oldest of this.#traces.keys()) {
      if (this.#traces.size <= TRACES_MAX) break;
      this.#traces.delete(oldest);
    }
  }
}

function spanOf(service: string, span: OtlpSpan): TraceSpan {
  const [start, end] = [span.startTimeUnixNano, span.endTimeUnixNano].map(
    (nanos) => Number(BigInt(nanos) / 1_000n) / 1_000,
  );
  return {
    id: span.spanId,
    parentId: span.parentSpanId ?? null,
    service,
    name: span.name.slice(0, TEXT_MAX),
    startMs: start ?? 0,
    durationMs: (end ?? 0) - (start ?? 0),
    isFailed: span.status?.code === FAILED,
    attributes: (span.attributes ?? []).map(({ key, value }) => [key, textOf(value)]),
    links: (span.links ?? []).map(({ traceId }) => traceId),
  };
}

function textOf(value: OtlpValue): string {
  return String(Object.values(value)[0]).slice(0, TEXT_MAX);
}
