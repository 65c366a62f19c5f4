import { integer, nat, oneof, type Arbitrary } from 'fast-check';

/**
 * Any character but half a pair, often one of Latin-1, for `string({ unit: ANY_CHARACTER })`. Its own unit `binary` takes 1.4 s of a
 * processor in each process that names it.
 */
export const ANY_CHARACTER: Arbitrary<string> = oneof(
  nat(0xff),
  nat(0xd7ff),
  integer({ min: 0xe000, max: 0x10ffff }),
).map((codePoint) => String.fromCodePoint(codePoint));
