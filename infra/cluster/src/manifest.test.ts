import assert from 'node:assert/strict';
import { readManifest } from './manifest.ts';

const SERVICE = `---
apiVersion: v1
kind: Service
metadata: { name: wts-sync }
spec: { clusterIP: None, selector: { part: sync }, ports: [{ port: 8080 }] }
`;

function deployment(container: string, pod = ''): string {
  return `---
apiVersion: apps/v1
kind: Deployment
metadata: { name: wts-sync }
spec:
  replicas: 2
  template:
    metadata: { labels: { part: sync } }
    spec:
      ${pod}
      containers:
        - name: sync
          image: wts-sync:1
          ${container}
`;
}

describe('what the chart rendered', () => {
  it('becomes plans with the values of Secrets, the named port of a probe and temporary folders', () => {
    const text = deployment(
      `env: [{ name: DATABASE_URL, valueFrom: { secretKeyRef: { name: s, key: url } } }, { name: MODE, value: "on" }, { name: NONE, valueFrom: { secretKeyRef: { name: s, key: none, optional: true } } }]
          ports: [{ name: http, containerPort: 8080 }]
          readinessProbe: { httpGet: { path: /ready, port: http }, periodSeconds: 5 }
          resources: { limits: { memory: 300Mi } }
          volumeMounts: [{ name: tmp, mountPath: /tmp }, { name: ca, mountPath: /etc/ca }]`,
      'volumes: [{ name: tmp, emptyDir: {} }, { name: ca, secret: { secretName: s, items: [{ key: ca, path: ca.crt }] } }]',
    );
    const { deployments, services } = readManifest(SERVICE + text, { s: { url: 'postgres://x', ca: 'PEM' } });
    assert.deepEqual(services, [{ name: 'wts-sync', selector: { part: 'sync' } }]);
    const [one] = deployments;
    assert.deepEqual([one?.replicas, one?.labels], [2, { part: 'sync' }]);
    assert.deepEqual(one?.main.env, [
      ['DATABASE_URL', 'postgres://x'],
      ['MODE', 'on'],
    ]);
    assert.deepEqual(one.main.readiness, {
      path: '/ready',
      port: 8080,
      periodMs: 5_000,
      timeoutMs: 1_000,
      failuresMax: 3,
    });
    assert.deepEqual([one.main.temporary, one.main.memory], [['/tmp'], '300Mi']);
    assert.deepEqual(one.main.files, [{ path: '/etc/ca/ca.crt', text: 'PEM' }]);
  });

  it('is refused when it has a field, a kind, a Secret or a volume that is not known, because a run would ignore it', () => {
    const read = (text: string): unknown => readManifest(text, {});
    assert.throws(() => read(deployment('lifecycle: {}')), /lifecycle/);
    assert.throws(() => read(deployment('', 'hostNetwork: true')), /hostNetwork/);
    assert.throws(() => read('kind: StatefulSet\nmetadata: { name: x }'), /StatefulSet/);
    assert.throws(
      () => read(deployment('env: [{ name: A, valueFrom: { secretKeyRef: { name: s, key: k } } }]')),
      /wts-sync needs k of s for A/,
    );
    assert.throws(() => read(deployment('volumeMounts: [{ name: gone, mountPath: /x }]')), /gone/);
  });
});
