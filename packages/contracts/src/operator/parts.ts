import type { ErrorCode } from '../errors.ts';
import { objectOf, pageLimit, text, uuid } from '../parts.ts';

/** Errors of every operation: those of its credential. */
export const OPERATOR_ERRORS = [
  'authorization_required',
  'authorization_malformed',
  'token_invalid',
] as const satisfies readonly ErrorCode[];

/** Of every operation. The gateway passes the credential on, and the auth service checks it. */
export const common = { tag: 'Operator', scope: 'none', errors: OPERATOR_ERRORS } as const;

/** With several cells. */
export const away = {
  type: 'array',
  items: text,
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
  return objectOf({ [name]: uuid } as Readonly<Record<Name, typeof uuid>>);
}
