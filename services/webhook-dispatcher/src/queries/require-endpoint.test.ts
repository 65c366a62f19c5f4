import { Roles } from '@wts/read-model';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { principalOf } from '../../test/test-dispatcher.ts';
import { requireEndpoint } from './require-endpoint.ts';

describe('an endpoint that is asked for', () => {
  it('costs a person outside as many questions whether it exists or not [webhooks.manage.not-found]', async () => {
    const asked = async (workspaceId: string | null): Promise<number> => {
      let questions = 0;
      const query = async (): Promise<{ rows: never[] }> => {
        questions += 1;
        return { rows: [] };
      };
      const roles = new Roles({ query } as unknown as ConstructorParameters<typeof Roles>[0]);
      const endpoints = { find: async () => (workspaceId === null ? null : { workspaceId }) };
      const context = { roles, endpoints } as unknown as Parameters<typeof requireEndpoint>[0];
      await assert.rejects(requireEndpoint(context, principalOf(randomUUID()), randomUUID()), { code: 'not_found' });
      return questions;
    };
    assert.equal(await asked(null), await asked(randomUUID()));
  });
});
