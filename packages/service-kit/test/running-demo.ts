/** The demo service in the process of a test. `demo.ts` is also the program that tests start, which would load the testkit longer than all else. */
import type { Principal, ServiceName } from '@wts/contracts';
import { minterFor, tokenEnvironment } from '@wts/testkit';
import { startService, type RunningService } from '../src/life/index.ts';
import type { Environment } from '../src/config/index.ts';
import { demoService, NAME, type Levers } from './demo.ts';

/** A call to this service, by default from the gateway. */
export const as = (principal: Principal, from: ServiceName = 'gateway', to: string = NAME): Record<string, string> => ({
  'x-wts-principal': minterFor(from, to)(principal),
});

export interface Running {
  readonly service: RunningService;
  readonly levers: Levers;
  /** Lines of log so far. */
  readonly lines: () => Record<string, unknown>[];
}

export async function startDemo(env: Environment = {}): Promise<Running> {
  const levers: Levers = { held: [], echoes: 0, closed: [], relay: async () => {} };
  const written: string[] = [];
  const service = await startService(
    demoService(levers),
    { ...tokenEnvironment(NAME), LOG_LEVEL: 'debug', ...env },
    { logTo: { write: (line: string) => void written.push(line) } },
  );
  return { service, levers, lines: () => written.map((line) => JSON.parse(line) as Record<string, unknown>) };
}
