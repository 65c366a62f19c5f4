import { servicePrincipal } from '@wts/access';
import type { BootstrapQuestion } from '@wts/contracts';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readQuestion } from './question.ts';

describe('what a bootstrap is asked for', () => {
  const [userId, home] = [randomUUID(), randomUUID()];
  const groupsOf = (asked: BootstrapQuestion): string[] | null => {
    const { groups } = readQuestion({ ...servicePrincipal('test'), userId }, asked);
    return groups === null ? null : [...groups];
  };

  it('are the groups that are named, whatever else they are', () => {
    assert.deepEqual(groupsOf({ syncGroups: `${userId},${home.toUpperCase()},no id` }), [userId, home]);
    assert.deepEqual(groupsOf({ syncGroups: home, type: 'full' }), [home]);
    assert.deepEqual(groupsOf({ syncGroups: userId, type: 'partial' }), [userId]);
    assert.deepEqual(groupsOf({ syncGroups: 'no id' }), []);
    assert.equal(groupsOf({}), null);
  });

  it('are all groups for a published client at its start, whose own list may be out of date [sync.client.compatible]', () => {
    assert.equal(groupsOf({ syncGroups: `${userId},${home}`, type: 'full' }), null);
  });
});
