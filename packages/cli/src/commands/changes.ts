import { CliFault } from '../fault.ts';
import { refusalFault } from '../session/fault-of.ts';

/** What every result of a mutation has. */
export interface Payload {
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** The record of a change. Throws a fault when it was refused. */
export function outcomeOf<Row>({ error }: Payload, record: Row | null): Row {
  if (error !== null) throw refusalFault(error);
  if (record === null)
    throw new CliFault('refused', 'The change was made before, and its record does not exist any more.');
  return record;
}
