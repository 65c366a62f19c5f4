import { Fault, type ErrorCode } from '@wts/contracts';

/** For a `catch`: a value in place of a fault with one of these codes. Every other failure stays one. */
export function onFault<const T>(codes: ErrorCode | readonly ErrorCode[], value: T): (failure: unknown) => T {
  return (failure) => {
    if (failure instanceof Fault && [codes].flat().includes(failure.code)) return value;
    throw failure;
  };
}
