import { ANY_CHARACTER } from '@wts/contracts/any-character';
import fc from 'fast-check';

const text = fc.string({ unit: ANY_CHARACTER });
const host = fc.array(
  fc.string({ unit: fc.constantFrom('a', 'z', '0', '9', '-', '_', '%', 'Ü'), minLength: 1, maxLength: 8 }),
  {
    minLength: 1,
    maxLength: 3,
  },
);

/**
 * An address of the web, or nearly one. That of fast-check takes two seconds of a processor for its first value. The last label ends with
 * a letter, because numbers alone are an address to which an attempt would connect.
 */
export const WEB_URL = fc
  .tuple(fc.constantFrom('https', 'https', 'http'), host, fc.option(fc.nat(70_000)), fc.tuple(text, text, text))
  .map(([scheme, labels, port, [path, query, fragment]]) =>
    [`${scheme}://${labels.join('.')}z`, port === null ? '' : `:${port}`, `/${path}?${query}#${fragment}`].join(''),
  );
