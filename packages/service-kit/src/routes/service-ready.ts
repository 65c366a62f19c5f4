import { contract, meta, objectOf, okBody } from '@wts/contracts';

const count = { type: 'integer', minimum: 0 } as const;
const backgroundStatus = objectOf({
  isActive: { type: 'boolean' },
  lastRunAt: { type: ['string', 'null'] },
  lagMs: count,
  runs: count,
  failures: count,
});

/** `/ready` of a service behind the gateway: with its background work, by name. The gateway answers the public one. */
export const serviceReady = contract({
  ...meta.ready,
  reply: {
    status: 200,
    schema: okBody(
      { status: { const: 'ready' } },
      { background: { type: 'object', additionalProperties: backgroundStatus } },
    ),
  },
});
