import assert from 'node:assert/strict';
import type { Principal, Scope } from '@wts/contracts';
import { Fault, SCOPES } from '@wts/contracts';
import { grants, requireScope, servicePrincipal } from './principal.ts';

const holding = (...scopes: Scope[]): Principal => ({ userId: 'u', scopes, credential: { kind: 'api_key', id: 'k' } });

describe('scopes', () => {
  it('include the lesser ones: admin > write > read [authentication.scopes.write-includes-read, authentication.scopes.admin-includes-both]', () => {
    const granted = SCOPES.map((held) => SCOPES.filter((scope) => grants(holding(held), scope)));
    assert.deepEqual(granted, [['read'], ['read', 'write'], ['read', 'write', 'admin']]);
  });

  it('grant nothing when there are none, or when their names are unknown', () => {
    for (const scope of SCOPES) {
      assert.equal(grants(holding(), scope), false);
      assert.equal(grants(holding('root' as Scope, 'constructor' as Scope), scope), false);
    }
  });

  it('that are missing are a 403 that names the scope, in the body and in the challenge', () => {
    assert.throws(
      () => requireScope(holding('read'), 'write'),
      (fault) => {
        assert.ok(fault instanceof Fault);
        assert.equal(fault.code, 'insufficient_scope');
        assert.match(fault.headers['WWW-Authenticate'] ?? '', /error="insufficient_scope", scope="write"/);
        return true;
      },
    );
    requireScope(holding('admin'), 'write');
  });
});

describe('a service acting for nobody', () => {
  it('holds all scopes and an id no person has', () => {
    const principal = servicePrincipal('gateway');
    assert.ok(grants(principal, 'admin'));
    assert.deepEqual(principal.credential, { kind: 'service', id: 'gateway' });
    assert.match(principal.userId, /^0{8}-/);
  });
});
