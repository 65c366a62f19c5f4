import assert from 'node:assert/strict';
import type { Container, PodSpec, SecurityContext } from './objects.ts';
import { violations } from './pod-security.ts';

const pod: SecurityContext = { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } };
const own: SecurityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };

function podWith(container: Partial<Container> = {}, more: Partial<PodSpec> = {}): PodSpec {
  return {
    securityContext: pod,
    containers: [{ name: 'one', image: 'one', securityContext: own, ...container }],
    volumes: [{ name: 'tmp', emptyDir: {} }],
    ...more,
  };
}

describe('the standard "restricted" for pods', () => {
  it('is kept by a pod with everything that it asks for', () => assert.deepEqual(violations(podWith()), []));

  it('finds each thing that it forbids', () => {
    const containers: readonly SecurityContext[] = [
      { ...own, allowPrivilegeEscalation: true },
      { capabilities: { drop: ['ALL'] } },
      { ...own, privileged: true },
      { ...own, capabilities: {} },
      { ...own, capabilities: { drop: ['ALL'], add: ['SYS_ADMIN'] } },
      { ...own, runAsUser: 0 },
      { ...own, runAsNonRoot: false },
      { ...own, seccompProfile: { type: 'Unconfined' } },
      { ...own, appArmorProfile: { type: 'Unconfined' } },
      { ...own, seLinuxOptions: { role: 'admin' } },
      { ...own, procMount: 'Unmasked' },
      { ...own, windowsOptions: { hostProcess: true } },
    ];
    for (const securityContext of containers)
      assert.notEqual(violations(podWith({ securityContext })).length, 0, JSON.stringify(securityContext));
    const pods: readonly Partial<PodSpec>[] = [
      { hostNetwork: true },
      { hostPID: true },
      { hostIPC: true },
      { securityContext: {} },
      { securityContext: { ...pod, sysctls: [{ name: 'kernel.msgmax' }] } },
      { volumes: [{ name: 'host', hostPath: { path: '/' } }] },
      { initContainers: [{ name: 'first', image: 'first' }] },
    ];
    for (const more of pods) assert.notEqual(violations(podWith({}, more)).length, 0, JSON.stringify(more));
    assert.notEqual(violations(podWith({ ports: [{ name: 'http', containerPort: 80, hostPort: 80 }] })).length, 0);
  });
});
