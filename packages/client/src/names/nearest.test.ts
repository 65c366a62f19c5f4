import assert from 'node:assert/strict';
import fc from 'fast-check';
import { fold, nearest } from './nearest.ts';

const namesOf = (name: string): string[] => [name];

describe('the nearest names', () => {
  it('are those with a slip, another order or other accents, the best first', () => {
    const names = ['Marketing', 'Website relaunch', 'Mobile app', 'Hiring', 'Finance', 'Café'];
    assert.equal(nearest('websit relanch', names, namesOf)[0], 'Website relaunch');
    assert.equal(nearest('marketnig', names, namesOf)[0], 'Marketing');
    assert.equal(nearest('App, mobile', names, namesOf)[0], 'Mobile app');
    assert.equal(nearest('cafe', names, namesOf)[0], 'Café');
  });

  it('begin with the name itself, and are a few of the candidates', () =>
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ minLength: 1, maxLength: 30 }), { selector: fold, minLength: 1 }),
        (names) => {
          const [first] = names;
          const found = nearest(first as string, names, namesOf);
          assert.ok(found.length <= 5);
          assert.ok(found.every((name) => names.includes(name)));
          if (fold(first as string) !== '') assert.equal(found[0], first);
        },
      ),
    ));
});
