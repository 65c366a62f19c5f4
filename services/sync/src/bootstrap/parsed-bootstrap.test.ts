import { servicePrincipal } from '@wts/access';
import type { BootstrapParameters } from '@wts/contracts';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { parseBootstrap } from './parsed-bootstrap.ts';

describe('the groups of a bootstrap request', () => {
  const [userId, home] = [randomUUID(), randomUUID()];
  const groupsOf = (requested: BootstrapParameters): string[] | null => {
    const { groups } = parseBootstrap({ ...servicePrincipal('test'), userId }, requested);
    return groups === null ? null : [...groups];
  };

  it('are the groups that the caller names, without invalid ids', () => {
    assert.deepEqual(groupsOf({ syncGroups: `${userId},${home.toUpperCase()},no id` }), [userId, home]);
    assert.deepEqual(groupsOf({ syncGroups: home, type: 'full' }), [home]);
    assert.deepEqual(groupsOf({ syncGroups: userId, type: 'partial' }), [userId]);
    assert.deepEqual(groupsOf({ syncGroups: 'no id' }), []);
    assert.equal(groupsOf({}), null);
  });

  it('are all groups for a full load by a published client, because its own list may be out of date [sync.client.compatible]', () =>
    assert.equal(groupsOf({ syncGroups: `${userId},${home}`, type: 'full' }), null));
});
