import { contract, meta } from '@wts/contracts';

const backgroundStatus = {
  type: 'object',
  additionalProperties: false,
  required: ['isActive', 'lastRunAt', 'lagMs', 'runs', 'failures'],
  properties: {
    isActive: { type: 'boolean' },
    lastRunAt: { type: ['string', 'null'] },
    lagMs: { type: 'integer', minimum: 0 },
    runs: { type: 'integer', minimum: 0 },
    failures: { type: 'integer', minimum: 0 },
  },
} as const;

/** `/ready` of a service behind the gateway: with its background work, by name. The gateway answers the public one. */
export const serviceReady = contract({
  ...meta.ready,
  reply: {
    status: 200,
    schema: {
      type: 'object',
      additionalProperties: false,
      required: ['ok', 'status'],
      properties: {
        ok: { const: true },
        status: { const: 'ready' },
        background: { type: 'object', additionalProperties: backgroundStatus },
      },
    },
  },
});
