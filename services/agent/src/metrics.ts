import { metricsOf } from '@wts/service-kit/observe';
import type { Registry } from 'prom-client';

/** `refused`: the result has `isError`, because of the arguments or the rights of the caller. `failed`: because of this system. */
export type ToolOutcome = 'ok' | 'refused' | 'failed' | 'cancelled';

export interface ToolMetrics {
  observe(tool: string, outcome: ToolOutcome, seconds: number): void;
}

export function toolMetrics(registry: Registry): ToolMetrics {
  const calls = metricsOf(registry).histogram(
    'wts_agent_tool_seconds',
    'Time of calls of tools, by tool and outcome: ok, refused (arguments or rights), failed (this system), cancelled.',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    'tool',
    'outcome',
  );
  return { observe: (tool, outcome, seconds) => calls.observe({ tool, outcome }, seconds) };
}
