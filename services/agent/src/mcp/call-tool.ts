import { includesScope } from '@wts/access';
import type { Principal } from '@wts/contracts';
import type { ServiceClient } from '@wts/service-kit/call';
import type { FairGate } from '@wts/service-kit/fairness';
import type { Logger } from '@wts/service-kit/observe';
import { compile, type Validate } from '@wts/service-kit/routes';
import { Graph, type Caller } from '../graph/graph.ts';
import { namesOf } from '../graph/names.ts';
import { AGENT_LIMITS } from '../limits.ts';
import type { ToolMetrics, ToolOutcome } from '../metrics.ts';
import { refusalOf, ToolError } from '../tool-error.ts';
import type { Tool } from '../tools/tool.ts';

/** What all calls share. */
export interface ToolParts {
  readonly graph: ServiceClient;
  readonly gate: FairGate;
  readonly metrics: ToolMetrics;
  /** Checks each result against the schema of its tool, in tests. */
  readonly checkReplies: boolean;
  readonly log: Logger;
}

export interface ToolResult {
  readonly content: { type: 'text'; text: string }[];
  readonly structuredContent?: Record<string, unknown>;
  readonly isError?: boolean;
  readonly [key: string]: unknown;
}

/** Compiled when a first call needs them, because all together take 0.1 s of each start. */
const inputs = new Map<Tool, Validate>();
const outputs = new Map<Tool, Validate>();

function checkInput(tool: Tool, args: unknown): void {
  inputs.getOrInsertComputed(tool, () => compile(tool.input, 'arguments'))(args);
}

function checkOutput(tool: Tool, result: unknown): void {
  outputs.getOrInsertComputed(tool, () => compile(tool.output, 'result'))(result);
}

/** Whether the caller may use a tool. */
export function mayUse({ effect }: Tool, principal: Principal): boolean {
  return includesScope(principal.scopes, scopeOf(effect));
}

function scopeOf(effect: Tool['effect']): 'read' | 'write' {
  return effect === 'reads' ? 'read' : 'write';
}

/**
 * Runs a tool. What goes wrong is a result with `isError`, whose text a model can act on. The JSON is also in the text, first,
 * because some clients show a model only that.
 * Keeps agent.errors.advice, agent.tools.scope.
 */
export async function callTool(parts: ToolParts, tool: Tool, args: unknown, caller: Caller): Promise<ToolResult> {
  const startedAt = performance.now();
  const { principal, requestId } = caller;
  const ended = (outcome: ToolOutcome, code?: string): void => {
    const seconds = (performance.now() - startedAt) / 1000;
    parts.metrics.observe(tool.name, outcome, seconds);
    parts.log.info({ tool: tool.name, outcome, code, requestId, durationMs: Math.round(seconds * 1000) }, 'tool');
  };
  try {
    if (!mayUse(tool, principal)) throw missingScope(tool);
    checkInput(tool, args);
    const result = await withGraph(parts, caller, (graph) =>
      tool.run(args as never, { principal, graph, names: namesOf(graph), now: () => new Date() }),
    );
    if (parts.checkReplies) checkOutput(tool, JSON.parse(JSON.stringify(result)));
    ended('ok');
    return { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: { ...result } };
  } catch (error) {
    if (caller.signal.aborted) {
      ended('cancelled');
      throw error;
    }
    const { code, text, isFailure } = refusalOf(error, requestId, addedBy(tool, args));
    ended(isFailure ? 'failed' : 'refused', code);
    if (code === 'internal') parts.log.error({ err: error, tool: tool.name, requestId }, 'a tool failed');
    return { content: [{ type: 'text', text }], isError: true };
  }
}

/** The key of a call that adds records. */
function addedBy({ effect }: Tool, args: unknown): { readonly idempotencyKey: string | undefined } | undefined {
  if (effect !== 'adds') return undefined;
  const { idempotencyKey } = (args ?? {}) as { readonly idempotencyKey?: string };
  return { idempotencyKey };
}

function missingScope({ name, effect }: Tool): ToolError {
  const message = `${name} needs the scope ${scopeOf(effect)}, which this connection does not have. Ask the person to connect again and allow changes, or to use an API key with full access.`;
  return new ToolError('insufficient_scope', message);
}

/** Runs what needs the graph service when it is this person's turn, until the deadline. */
export function withGraph<T>(parts: ToolParts, caller: Caller, run: (graph: Graph) => Promise<T>): Promise<T> {
  const signal = AbortSignal.any([caller.signal, AbortSignal.timeout(AGENT_LIMITS.callMs)]);
  return parts.gate.run(caller.principal.userId, { signal }, () => run(new Graph(parts.graph, { ...caller, signal })));
}
