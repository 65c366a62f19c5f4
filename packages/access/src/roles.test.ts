import assert from 'node:assert/strict';
import { ROLES, type Role } from '@wts/contracts';
import { can, PERMISSIONS, type WorkspacePermission } from './roles.ts';

const permissions = Object.keys(PERMISSIONS) as WorkspacePermission[];

describe('roles', () => {
  it('let only owners and admins manage members, teams, private projects and invitations [workspaces.roles.manage]', () => {
    for (const permission of ['manage', 'invitations.manage'] as const) {
      assert.deepEqual(
        ROLES.filter((role) => can(role, permission)),
        ['owner', 'admin'],
        permission,
      );
    }
  });

  it('let only an owner make owners and end the keys of others', () => {
    for (const permission of ['owners.manage', 'keys.manage'] as const) {
      assert.deepEqual(
        ROLES.filter((role) => can(role, permission)),
        ['owner'],
        permission,
      );
    }
  });

  it('let members change all work items', () => {
    for (const permission of ['contribute', 'own', 'anyone'] as const) assert.ok(can('member', permission), permission);
  });

  it('let guests create tasks and comments, and change only their own tasks', () => {
    const always = permissions.filter((permission) => can('guest', permission));
    assert.deepEqual(always.sort(), ['anyone']);
    const own = permissions.filter((permission) => can('guest', permission, true) && !can('guest', permission));
    assert.deepEqual(own.sort(), ['own']);
  });

  it('give a higher role all permissions of a lower one', () => {
    for (const permission of permissions) {
      for (const [index, role] of ROLES.slice(1).entries()) {
        const higher = ROLES[index]!;
        for (const isOwn of [false, true]) {
          assert.ok(
            !can(role, permission, isOwn) || can(higher, permission, isOwn),
            `${permission}: ${role} > ${higher}`,
          );
        }
      }
    }
  });

  it('give nothing to an unknown role, also not one named like a property of objects', () => {
    for (const role of ['', 'root', 'constructor', '__proto__', 'toString']) {
      for (const permission of permissions) assert.equal(can(role as Role, permission, true), false, role);
    }
  });
});
