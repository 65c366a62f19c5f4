import assert from 'node:assert/strict';
import { Fault, SCOPES, type Principal, type Scope } from '@wts/contracts';
import { includesScope, requireScope, servicePrincipal } from './principal.ts';

const holding = (...scopes: Scope[]): Principal => ({ userId: 'u', scopes, credential: { kind: 'api_key', id: 'k' } });

describe('scopes', () => {
  it('include the lower ones: admin > write > read [authentication.scopes.write-includes-read, authentication.scopes.admin-includes-both]', () => {
    const granted = SCOPES.map((held) => SCOPES.filter((scope) => includesScope(holding(held).scopes, scope)));
    assert.deepEqual(granted, [['read'], ['read', 'write'], ['read', 'write', 'admin']]);
  });

  it('grant nothing when they are empty or unknown', () => {
    for (const scope of SCOPES) {
      assert.equal(includesScope(holding().scopes, scope), false);
      assert.equal(includesScope(holding('root' as Scope, 'constructor' as Scope).scopes, scope), false);
    }
  });

  it('that are missing are a 403 with the scope in the body and in the challenge', () => {
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

describe('a service that acts for itself', () => {
  it('has all scopes and an id that no person has', () => {
    const principal = servicePrincipal('gateway');
    assert.ok(includesScope(principal.scopes, 'admin'));
    assert.deepEqual(principal.credential, { kind: 'service', id: 'gateway' });
    assert.match(principal.userId, /^0{8}-/);
  });
});
