import assert from 'node:assert/strict';
import { parseForm } from './read-form.ts';

describe('a form', () => {
  const read = (text: string) => {
    const { values, repeated } = parseForm(text);
    return { values: Object.fromEntries(values), repeated };
  };

  it('is read with its first values; one without a value counts as left out, and repeated ones are named', () => {
    assert.deepEqual(read('a=1&b=x+y%20%C3%BC%2B&&c=&d&a=2&c=3&a=4&e=f=g'), {
      values: { a: '1', b: 'x y ü+', e: 'f=g' },
      repeated: ['a', 'c'],
    });
    assert.deepEqual(read(''), { values: {}, repeated: [] });
    assert.equal(parseForm('__proto__=x').values.get('__proto__'), 'x');
  });

  it('is refused when it is no percent-encoded UTF-8, or has a NUL', () => {
    for (const text of ['a=%', 'a=%zz', '%ff=1', 'a=%00', 'a=%ed%a0%80'])
      assert.throws(() => read(text), { code: 'malformed_request' }, text);
  });
});
