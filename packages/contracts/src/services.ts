import type { Contract } from './contract.ts';

/** Every service that calls others. */
export type ServiceName = 'gateway' | 'workspace' | 'sync' | 'graph';

/** Which services an internal operation is served to; all others are refused, whatever their token says of the person. */
export interface InternalUse {
  readonly callers: readonly ServiceName[];
  /** A service asks for itself: a token that carries a person is refused. */
  readonly forItself?: true;
  /** Of the callers, those who may decide by themselves what is allowed (`authority: 'service'`). */
  readonly authority?: readonly ServiceName[];
}

/** What is open to people comes through the one public door. */
const GATEWAY_ONLY: readonly ServiceName[] = ['gateway'];

/** The services that may call an operation. */
export function callersOf({ internal }: Pick<Contract, 'internal'>): readonly ServiceName[] {
  return internal?.callers ?? GATEWAY_ONLY;
}
