import { requireAuthData, type DatabaseRole } from '@wts/local';
import { rejects } from 'node:assert/strict';
import { testDatabase } from '../src/index.ts';

describe('npm start', () => {
  it('refuses a database of auth that does not know the people of the workspaces, and says with which options to start', async () => {
    await using seeded = await testDatabase('with-people', { seeded: true });
    await using empty = await testDatabase('without-people', { migrated: true });
    const withAuthOf = (role: DatabaseRole): string => (role === 'wts_auth' ? empty : seeded).urlOf(role);
    await rejects(requireAuthData({ urlOf: withAuthOf }, 'Or use --fresh.'), {
      name: 'UserError',
      message: /no people.*--cells 2.*\nOr use --fresh\.$/s,
    });
    await requireAuthData(seeded, '');
    await requireAuthData(empty, '');
  });
});
