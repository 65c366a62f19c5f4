import assert from 'node:assert/strict';
import type { Redeemer, StoredInvitation } from './redemption.ts';
import { judgeRedemption } from './redemption.ts';

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

const judge = (invitation: StoredInvitation | null, redeemer: Redeemer = grace): string => {
  const judgement = judgeRedemption(invitation, redeemer, now);
  return judgement.outcome === 'refused' ? judgement.code : judgement.outcome;
};

describe('redeeming an invitation', () => {
  it('lets anyone in who holds the code of an open invitation', () => {
    assert.equal(judge(open, { ...grace, addresses: [] }), 'join');
  });

  it('lets the invited address in, in any case of letters', () => {
    assert.equal(judge(addressed), 'join');
  });

  it('answers an unknown code as not found', () => {
    assert.equal(judge(null), 'not_found');
  });

  it('answers a code that has expired as expired, from the last moment on', () => {
    assert.equal(judge({ ...open, expiresAt: now }), 'invitation_expired');
    assert.equal(judge({ ...addressed, expiresAt: now }, { ...grace, addresses: [] }), 'invitation_expired');
  });

  it('refuses another address, without telling whether the code was used', () => {
    const stranger = { ...grace, addresses: ['grace@example.org'] };
    assert.equal(judge(addressed, stranger), 'wrong_address');
    assert.equal(judge({ ...addressed, claimedBy: ADA, redeemedAt: now }, stranger), 'wrong_address');
  });

  it('changes nothing for a member, however often the code was used', () => {
    assert.equal(
      judge({ ...addressed, claimedBy: GRACE, redeemedAt: now }, { ...grace, isMember: true }),
      'already_member',
    );
  });

  it('is for one use when it has an address', () => {
    assert.equal(judge({ ...addressed, claimedBy: GRACE, redeemedAt: now }), 'invitation_expired');
    assert.equal(judge({ ...addressed, claimedBy: ADA }), 'invitation_expired');
  });

  it('gives nothing back to a person who lost a membership or a role since it was made [workspaces.join.after-loss]', () => {
    for (const invitation of [open, addressed, { ...addressed, claimedBy: GRACE }]) {
      assert.equal(judge(invitation, { ...grace, hasLostSince: true }), 'invitation_expired');
      assert.equal(judge(invitation, { ...grace, hasLostSince: true, isMember: true }), 'already_member');
    }
  });

  it('lets the person go on whose attempt was cut off', () => {
    assert.equal(judge({ ...addressed, claimedBy: GRACE }), 'join');
  });

  it('is dead when who made it may no longer invite', () => {
    for (const creatorRole of ['member', 'guest', null] as const)
      assert.equal(judge({ ...open, creatorRole }), 'not_found');
  });
});
