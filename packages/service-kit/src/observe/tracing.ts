import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context, Span } from '@opentelemetry/api';
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';

interface TracingOptions {
  readonly service: string;
  readonly endpoint: string;
}

const SHUTDOWN_MS = 2_000;
let active = false;

/** Whether traces are collected. Otherwise each function below costs one comparison. */
export function isTracing(): boolean {
  return active;
}

/** Starts to send traces to a collector, and loads the packages for it. Call once, before serving. */
export async function startTracing({ service, endpoint }: TracingOptions): Promise<AsyncDisposable> {
  const [sdk, exporter, resources, core, hooks] = await Promise.all([
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/core'),
    import('@opentelemetry/context-async-hooks'),
  ]);
  const url = `${endpoint.replace(/(?<!\/)\/+$/, '')}/v1/traces`;
  const provider = new sdk.TracerProvider({
    resource: resources.resourceFromAttributes({ 'service.name': service }),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter: new exporter.OTLPTraceExporter({ url }) })],
  });
  context.setGlobalContextManager(new hooks.AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new core.W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  active = true;
  return {
    async [Symbol.asyncDispose]() {
      active = false;
      // A collector that is down must not keep the service from stopping.
      await Promise.race([provider.shutdown().catch(() => {}), sleep(SHUTDOWN_MS)]);
      trace.disable();
      context.disable();
      propagation.disable();
    },
  };
}

/** Runs `inside` as part of a span for an incoming request, a child of the caller's span when it sent one. */
export function traceRequest(headers: IncomingHttpHeaders, method: string, inside: (span: Span) => void): void {
  const parent = propagation.extract(context.active(), headers);
  const span = tracer().startSpan(method, { kind: SpanKind.SERVER }, parent);
  context.with(trace.setSpan(parent, span), inside, undefined, span);
}

/** Ends a request's span with its contract and status. */
export function endRequestSpan(span: Span, route: string, method: string, status: number): void {
  span.updateName(`${method} ${route}`);
  span.setAttributes({ 'http.route': route, 'http.request.method': method, 'http.response.status_code': status });
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

/** Starts a span for a call to another service, and writes it into the headers. */
export function startCallSpan(name: string, headers: Record<string, string>): Span {
  const span = tracer().startSpan(name, { kind: SpanKind.CLIENT });
  injectTrace(headers, trace.setSpan(context.active(), span));
  return span;
}

/** Writes the active trace into the headers of a request or message. */
export function injectTrace(headers: Record<string, string>, from: Context = context.active()): void {
  if (active) propagation.inject(from, headers);
}

/** Ends a call's span. */
export function endCallSpan(span: Span, failure?: unknown): void {
  if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

function tracer(): ReturnType<typeof trace.getTracer> {
  return trace.getTracer('@wts/service-kit');
}
