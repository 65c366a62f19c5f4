import type { IncomingHttpHeaders } from 'node:http';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Attributes, Link, Span, SpanContext } from '@opentelemetry/api';
import type * as Sdk from '@opentelemetry/sdk-trace';
import { context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags } from '@opentelemetry/api';
import type { Build } from '../config/build.ts';
import type { TraceSampling } from '../config/sampling.ts';
import { parseTraceparent, traceparentOf } from './traceparent.ts';

/*
 * A trace begins at the gateway, which decides whether it is recorded. Only recorded traces have spans, are passed on and are in
 * the log, so a request that is not recorded costs one decision at the gateway and a look at a header in each service.
 *
 * Within a trace spans are children, across a call by `traceparent`. What many requests cause together, a batch and a message, has
 * a span with links to each recorded one. Work that no request causes is not traced.
 */

export interface TracingOptions {
  readonly service: string;
  readonly build: Build;
  /** Of the collector; without one nothing is traced. */
  readonly endpoint: string | undefined;
  /** Of the service that decides; null for the others, which record what is recorded by their caller. */
  readonly sampling: TraceSampling | null;
}

const SHUTDOWN_MS = 2_000;
/** So that a trace is seen soon. What is not sent by then waits in a queue of 2,048 spans; more of them are dropped. */
const EXPORT_EVERY_MS = 1_000;
/** False: no traces are collected, and each function below costs one comparison. */
let isActive = false;

/** Starts to send traces to a collector, and loads the packages for it. Call once, before serving. */
export async function startTracing(options: TracingOptions): Promise<AsyncDisposable | null> {
  const { service, build, endpoint, sampling } = options;
  if (endpoint === undefined) return null;
  const [sdk, exporter, resources, hooks] = await Promise.all([
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/context-async-hooks'),
  ]);
  const url = `${endpoint.replace(/(?<!\/)\/+$/, '')}/v1/traces`;
  const own = resources.resourceFromAttributes({
    'service.name': service,
    'service.namespace': 'workspace-task-service',
    'service.version': build.version,
    'service.instance.id': randomUUID(),
  });
  const provider = new sdk.TracerProvider({
    // OTEL_RESOURCE_ATTRIBUTES, which replace ours.
    resource: own.merge(resources.detectResources({ detectors: [resources.resourceAttributesEnvDetector] })),
    sampler: sampling === null ? new sdk.AlwaysOnSampler() : samplerOf(sampling, sdk),
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter: new exporter.OTLPTraceExporter({ url }),
        scheduledDelayMillis: EXPORT_EVERY_MS,
      }),
    ],
  });
  context.setGlobalContextManager(new hooks.AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(provider);
  isActive = true;
  return {
    async [Symbol.asyncDispose]() {
      isActive = false;
      // A collector that is down must not keep the service from stopping.
      await Promise.race([provider.shutdown().catch(() => {}), sleep(SHUTDOWN_MS)]);
      trace.disable();
      context.disable();
    },
  };
}

/** A parent is one of a trusted proxy; all others are only linked. */
function samplerOf({ sampler, ratio }: TraceSampling, sdk: typeof Sdk): Sdk.Sampler {
  const [, parentBased, name] = /^(parentbased_)?(.*)$/.exec(sampler) ?? [];
  const root =
    name === 'always_on'
      ? new sdk.AlwaysOnSampler()
      : name === 'always_off'
        ? new sdk.AlwaysOffSampler()
        : new sdk.TraceIdRatioBasedSampler(ratio);
  return parentBased === undefined ? root : new sdk.ParentBasedSampler({ root });
}

interface Entered {
  readonly method: string;
  /** The origin that the caller called. */
  readonly origin: string;
}

/**
 * The span of a request that enters the system; null when it is not recorded. A stranger's `traceparent` is only linked, because as
 * the parent it would decide what is recorded, and join requests of different people to one trace.
 */
export function startEntrySpan(headers: IncomingHttpHeaders, entered: Entered, isTrusted: boolean): Span | null {
  if (!isActive) return null;
  const theirs = isTrusted ? parseTraceparent(headers['traceparent']) : null;
  const parent = theirs === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, theirs);
  const span = recorded(tracer().startSpan(entered.method, { kind: SpanKind.SERVER }, parent));
  if (span === null) return null;
  const stranger = isTrusted ? null : parseTraceparent(headers['traceparent']);
  if (stranger !== null) span.addLink({ context: stranger });
  return span.setAttributes(attributesOf(entered));
}

/** The span of a request of another service, a child of the caller's; null when that one is not recorded. */
export function startRequestSpan(headers: IncomingHttpHeaders, method: string): Span | null {
  if (!isActive) return null;
  const caller = recordedOf(headers['traceparent']);
  if (caller === null) return null;
  const parent = trace.setSpanContext(ROOT_CONTEXT, caller);
  const attributes = attributesOf({ method, origin: `http://${headers.host}` });
  return tracer().startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
}

interface EndedRequest {
  readonly method: string;
  /** The path of the contract, without values; null where none served it. */
  readonly route: string | null;
  readonly status: number;
  /** The code of the error that was answered. */
  readonly code: string | undefined;
}

/** Ends a request's span with its contract and status. Of paths only that of the contract, because values in it may be secrets. */
export function endRequestSpan(span: Span, { method, route, status, code }: EndedRequest): void {
  span.updateName(route === null ? method : `${method} ${route}`);
  span.setAttribute('http.response.status_code', status);
  if (route !== null) span.setAttribute('http.route', route);
  if (status >= 500) fail(span, code ?? String(status));
  span.end();
}

/** Runs `inside` as part of the span; without one as part of none, whatever the caller is part of. */
export function inSpan<T>(span: Span | null, inside: () => T): T {
  if (!isActive) return inside();
  return context.with(span === null ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, span), inside);
}

/** The span that this code is part of; null when none is recorded. */
export function activeTrace(): SpanContext | null {
  const found = isActive ? trace.getSpanContext(context.active()) : undefined;
  return found === undefined || !isRecorded(found) ? null : found;
}

/** A span of an operation inside this process or of a call of another one; null when its parent is not recorded. */
export function startSpan(name: string, kind: keyof typeof SpanKind, attributes: Attributes = {}): Span | null {
  if (activeTrace() === null) return null;
  return tracer().startSpan(name, { kind: SpanKind[kind], attributes });
}

interface LinkedSpan {
  readonly kind: keyof typeof SpanKind;
  /** `traceparent` or contexts of the recorded spans that caused this one. */
  readonly causes: readonly (SpanContext | string)[];
  /** A child of the first cause, instead of a trace of its own. */
  readonly isChild?: boolean;
  /** Of what has begun before its causes were known. */
  readonly startedAt?: Date;
  readonly attributes?: Attributes;
}

/** A span of what others caused together, with a link to each; null when none of these is recorded. */
export function startLinkedSpan(
  name: string,
  { kind, causes, isChild = false, startedAt, attributes = {} }: LinkedSpan,
): Span | null {
  if (!isActive || causes.length === 0) return null;
  const links: Link[] = causes.flatMap((cause) => {
    const found = typeof cause === 'string' ? recordedOf(cause) : cause;
    return found === null ? [] : [{ context: found }];
  });
  const [first] = links;
  if (first === undefined) return null;
  const parent = isChild ? trace.setSpanContext(ROOT_CONTEXT, first.context) : ROOT_CONTEXT;
  const startTime = startedAt === undefined ? {} : { startTime: startedAt };
  return tracer().startSpan(name, { kind: SpanKind[kind], links, attributes, ...startTime }, parent);
}

/**
 * A span for a message of NATS; null when no recorded span caused it. What is sent belongs to the trace of its cause; who receives it
 * begins a trace of its own with a link, because a message may be of many causes.
 */
export function startMessageSpan(
  subject: string,
  kind: 'PRODUCER' | 'CONSUMER',
  cause: string | undefined,
): Span | null {
  if (cause === undefined) return null;
  const isSent = kind === 'PRODUCER';
  return startLinkedSpan(`${isSent ? 'send' : 'process'} ${subject}`, {
    kind,
    causes: [cause],
    isChild: isSent,
    attributes: {
      'messaging.system': 'nats',
      'messaging.destination.name': subject,
      'messaging.operation.type': isSent ? 'send' : 'process',
    },
  });
}

/** Ends a span; a failure is named by its code or its class, because its message may have content of records. */
export function endSpan(span: Span | null, failure?: unknown, attributes?: Attributes): void {
  if (span === null) return;
  if (attributes !== undefined) span.setAttributes(attributes);
  if (failure !== undefined) fail(span, nameOf(failure));
  span.end();
}

/** The `traceparent` of a span, for a message or a call. */
export function headerOf(span: Span): string {
  return traceparentOf(span.spanContext());
}

/** For a line of the log. The names are those of OpenTelemetry. */
export function traceFields(of: SpanContext | null = activeTrace()): { trace_id?: string; span_id?: string } {
  return of === null ? {} : { trace_id: of.traceId, span_id: of.spanId };
}

function recordedOf(header: string | string[] | undefined): SpanContext | null {
  const found = parseTraceparent(header);
  return found === null || !isRecorded(found) ? null : found;
}

function isRecorded({ traceFlags }: SpanContext): boolean {
  return (traceFlags & TraceFlags.SAMPLED) !== 0;
}

function recorded(span: Span): Span | null {
  return span.isRecording() ? span : null;
}

function attributesOf({ method, origin }: Entered): Attributes {
  const url = URL.parse(origin);
  if (url === null) return { 'http.request.method': method };
  const scheme = url.protocol.slice(0, -1);
  return {
    'http.request.method': method,
    'url.scheme': scheme,
    'server.address': url.hostname,
    'server.port': Number(url.port || (scheme === 'https' ? 443 : 80)),
  };
}

function fail(span: Span, type: string): void {
  span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', type);
}

function nameOf(failure: unknown): string {
  const { code, name } = (failure ?? {}) as { code?: unknown; name?: unknown };
  return typeof code === 'string' ? code : typeof name === 'string' ? name : '_OTHER';
}

function tracer(): ReturnType<typeof trace.getTracer> {
  return trace.getTracer('@wts/service-kit');
}
