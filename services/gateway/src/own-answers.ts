import { meta } from '@wts/contracts';
import type { Readiness } from '@wts/service-kit';
import { answerJson } from './edge/answer.ts';
import type { OwnAnswer } from './edge/edge.ts';

/**
 * What the gateway answers itself. The bodies are made once; only readiness has to ask somebody.
 * Keeps meta.health.no-wait, meta.health.up.
 * Keeps meta.openapi.answer.
 */
export function ownAnswers(readiness: Readiness, description: object): ReadonlyMap<string, OwnAnswer> {
  const up = bytes({ ok: true, status: 'up' });
  const ready = bytes({ ok: true, status: 'ready' });
  const openapi = bytes(description);
  const noStore = ['Cache-Control', 'no-store'];
  return new Map<string, OwnAnswer>([
    [meta.health.id, (exchange, res) => answerJson(exchange, res, 200, up, noStore)],
    [
      meta.ready.id,
      async (exchange, res) => {
        await readiness.check();
        answerJson(exchange, res, 200, ready, noStore);
      },
    ],
    [meta.description.id, (exchange, res) => answerJson(exchange, res, 200, openapi)],
  ]);
}

function bytes(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}
