import assert from 'node:assert/strict';
import { decideRedemption, type Redeemer, type StoredInvitation } from './redemption.ts';

const now = new Date('2026-11-21T09:00:00.000Z');
const ADA = '018f2a3b-7d2e-7f11-8b11-4a6c9f8e3d21';
const GRACE = '018f2a3b-7d2e-7f11-8b11-4a6c9f8e3d22';

const open: StoredInvitation = {
  id: '018f2a3b-9f4a-7c33-9d33-6c8ebf0a5f43',
  workspaceId: '018f2a3b-6c1d-7e00-9a00-3f5b8e7d2c10',
  email: null,
  role: 'member',
  createdBy: ADA,
  creatorRole: 'admin',
  createdAt: new Date('2026-11-20T09:00:00.000Z'),
  expiresAt: new Date('2026-11-27T09:00:00.000Z'),
  claimedBy: null,
  redeemedAt: null,
};
const addressed: StoredInvitation = { ...open, email: 'grace@example.com' };
const grace: Redeemer = { userId: GRACE, addresses: ['Grace@Example.com'], isMember: false, hasLostSince: false };

const outcomeOf = (invitation: StoredInvitation | null, redeemer: Redeemer = grace): string => {
  const verdict = decideRedemption(invitation, redeemer, now);
  return verdict.outcome === 'refused' ? verdict.code : verdict.outcome;
};

describe('redeeming an invitation', () => {
  it('admits any person with the code of an invitation without an address', () =>
    assert.equal(outcomeOf(open, { ...grace, addresses: [] }), 'join'));

  it('admits the invited address in any case', () => assert.equal(outcomeOf(addressed), 'join'));

  it('refuses an unknown code as not found', () => assert.equal(outcomeOf(null), 'not_found'));

  it('refuses an expired code from its expiry time on', () => {
    assert.equal(outcomeOf({ ...open, expiresAt: now }), 'invitation_expired');
    assert.equal(outcomeOf({ ...addressed, expiresAt: now }, { ...grace, addresses: [] }), 'invitation_expired');
  });

  it('refuses another address without revealing whether the code was used', () => {
    const outsider = { ...grace, addresses: ['grace@example.org'] };
    assert.equal(outcomeOf(addressed, outsider), 'wrong_address');
    assert.equal(outcomeOf({ ...addressed, claimedBy: ADA, redeemedAt: now }, outsider), 'wrong_address');
  });

  it('changes nothing for a member, also with a used code', () =>
    assert.equal(
      outcomeOf({ ...addressed, claimedBy: GRACE, redeemedAt: now }, { ...grace, isMember: true }),
      'already_member',
    ));

  it('with an address succeeds once', () => {
    assert.equal(outcomeOf({ ...addressed, claimedBy: GRACE, redeemedAt: now }), 'invitation_expired');
    assert.equal(outcomeOf({ ...addressed, claimedBy: ADA }), 'invitation_expired');
  });

  it('refuses a person who lost a membership or a role since the invitation was created [workspaces.join.after-loss]', () => {
    for (const invitation of [open, addressed, { ...addressed, claimedBy: GRACE }]) {
      assert.equal(outcomeOf(invitation, { ...grace, hasLostSince: true }), 'invitation_expired');
      assert.equal(outcomeOf(invitation, { ...grace, hasLostSince: true, isMember: true }), 'already_member');
    }
  });

  it('lets a person continue an attempt that broke off', () =>
    assert.equal(outcomeOf({ ...addressed, claimedBy: GRACE }), 'join'));

  it('refuses a code whose creator may no longer invite', () => {
    for (const creatorRole of ['member', 'guest', null] as const)
      assert.equal(outcomeOf({ ...open, creatorRole }), 'not_found');
  });
});
