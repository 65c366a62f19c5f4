import assert from 'node:assert/strict';
import type { Revocation } from '@wts/contracts';
import { eventually } from '@wts/testkit';
import { testContext } from '../../test/replica.ts';
import { followRevokedCredentials, type RevokedPage } from './revoked-credentials.ts';

const PAGE = 3;
const moment = (second: number): string => new Date(Date.UTC(2026, 10, 21, 10, 0, second)).toISOString();

/** An auth service with revoked credentials, which can be down. */
class Credentials {
  readonly revoked: { id: string; userId: string; revokedAt: string; isAll: boolean }[] = [];
  readonly reported: Revocation[] = [];
  questions = 0;
  now = 0;
  isAway = false;

  revoke(second: number, isAll = false): string {
    const id = `key-${String(this.revoked.length).padStart(3, '0')}`;
    this.revoked.push({ id, userId: 'ann', revokedAt: moment(second), isAll });
    return id;
  }

  follow(): AsyncDisposable {
    return followRevokedCredentials(testContext(), {
      everyMs: 1,
      pageMax: PAGE,
      onRevoked: (revocation) => void this.reported.push(revocation),
      list: async ({ since, afterId = '' }): Promise<RevokedPage> => {
        this.questions += 1;
        if (this.isAway) throw new Error('away');
        const at = moment(this.now);
        if (since === undefined) return { at, credentials: [] };
        const after = this.revoked.filter(
          ({ id, revokedAt }) => revokedAt > since || (revokedAt === since && id > afterId),
        );
        return { at, credentials: after.slice(0, PAGE) };
      },
    });
  }

  async untilHeard(id: string): Promise<void> {
    await eventually(() => this.reported.some(({ credentialId }) => credentialId === id));
  }

  async untilAskedAgain(): Promise<void> {
    // The poll in progress may have started before.
    const enough = this.questions + 2;
    await eventually(() => this.questions >= enough);
  }
}

describe('polling for revoked credentials', () => {
  it('reports each revoked credential once, with its person', async () => {
    const keys = new Credentials();
    keys.now = 60;
    keys.revoke(1);
    await using _following = keys.follow();
    await keys.untilAskedAgain();
    const id = keys.revoke(61);
    await keys.untilHeard(id);
    await keys.untilAskedAgain();
    assert.deepEqual(keys.reported, [{ kind: 'credential', credentialId: id, userId: 'ann' }]);
  });

  it('reports a person who was disabled, without a credential', async () => {
    const keys = new Credentials();
    keys.now = 60;
    await using _following = keys.follow();
    await keys.untilAskedAgain();
    keys.revoke(61, true);
    await eventually(() => keys.reported.length > 0);
    assert.deepEqual(keys.reported, [{ kind: 'credential', userId: 'ann' }]);
  });

  it('reports a key that becomes visible after later ones', async () => {
    const keys = new Credentials();
    keys.now = 60;
    await using _following = keys.follow();
    await keys.untilAskedAgain();
    await keys.untilHeard(keys.revoke(60));
    keys.now = 65;
    await keys.untilAskedAgain();
    await keys.untilHeard(keys.revoke(56));
  });

  it('reports all keys that were revoked while the service could not be reached', async () => {
    const keys = new Credentials();
    keys.now = 60;
    await using _following = keys.follow();
    await keys.untilAskedAgain();
    keys.isAway = true;
    await keys.untilAskedAgain();
    const ids = Array.from({ length: 4 * PAGE }, () => keys.revoke(70));
    keys.now = 3_000;
    await keys.untilAskedAgain();
    assert.equal(keys.reported.length, 0);
    keys.isAway = false;
    for (const id of ids) await keys.untilHeard(id);
  });
});
