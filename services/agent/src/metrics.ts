import { Histogram, type Registry } from 'prom-client';

/** `refused`: the result has `isError`, because of the arguments or the rights of the caller. `failed`: because of this system. */
export type ToolOutcome = 'ok' | 'refused' | 'failed' | 'cancelled';

export interface ToolMetrics {
  observe(tool: string, outcome: ToolOutcome, seconds: number): void;
}

export function toolMetrics(registry: Registry): ToolMetrics {
  const calls = new Histogram({
    name: 'wts_agent_tool_seconds',
    help: 'Time of calls of tools, by tool and outcome: ok, refused (arguments or rights), failed (this system), cancelled.',
    labelNames: ['tool', 'outcome'] as const,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  return { observe: (tool, outcome, seconds) => calls.observe({ tool, outcome }, seconds) };
}
