import type { ErrorCode } from '../errors.ts';
import { pageLimit, timestamp, uuid } from '../parts.ts';

/** Of every operation. The gateway passes the credential on, and the auth service checks it. */
export const common = { tag: 'Operator', scope: 'none' } as const;

/** Errors of every operation: those of its credential. */
export const OPERATOR_ERRORS = [
  'authorization_required',
  'authorization_malformed',
  'token_invalid',
] as const satisfies readonly ErrorCode[];

export const text = { type: 'string' } as const;
export const textOrNull = { type: ['string', 'null'] } as const;
export const timeOrNull = { ...timestamp, type: ['string', 'null'] } as const;
export const count = { type: 'integer', minimum: 0 } as const;
/** With several cells. */
export const away = {
  type: 'array',
  items: { type: 'string' },
  description: 'Cells that did not answer: what lives there is missing. Left out when there is none.',
} as const;

/** A page of a list, by a text that its items have. */
export const pageQuery = {
  type: 'object',
  additionalProperties: false,
  properties: {
    text: { type: 'string', maxLength: 320, description: 'A part of a name or an address, or an id.' },
    after: { ...uuid, description: 'The id of the last item of the page before.' },
    limit: pageLimit,
  },
} as const;

export function byId<const Name extends string>(name: Name) {
  return {
    type: 'object',
    additionalProperties: false,
    required: [name],
    properties: { [name]: uuid } as Readonly<Record<Name, typeof uuid>>,
  } as const;
}
