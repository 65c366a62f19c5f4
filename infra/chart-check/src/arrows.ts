import { CALLS, type ServiceName } from '@wts/contracts';
import { SERVICES } from '@wts/local';
import type { KubernetesObject, Labels } from './objects.ts';

interface Peer {
  readonly podSelector?: { readonly matchLabels?: Labels };
  readonly namespaceSelector?: { readonly matchLabels?: Labels };
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

interface Rule {
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
  readonly ports?: readonly { readonly port: string | number; readonly endPort?: number }[];
}

interface Policy {
  readonly podSelector: { readonly matchLabels?: Labels };
  readonly policyTypes: readonly string[];
  readonly ingress?: readonly Rule[];
  readonly egress?: readonly Rule[];
}

/** Kept by every cluster for its own: addresses that no consumer of webhooks may have. */
const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', '127.0.0.0/8'];

/** How the NetworkPolicies differ from the calls of services, and from what each connects to outside. */
export function wrongArrows(objects: readonly KubernetesObject[]): readonly string[] {
  const own = installationOf(objects);
  return [...wrongBetween(own, own), ...own.pods.flatMap((pod) => outside(own.policies, pod.name, pod.labels))];
}

/** The same between cells, each in its namespace: only auth calls, and is called by, the services of another one. A gateway is for everyone. */
export function wrongArrowsOfCells(cells: Readonly<Record<string, readonly KubernetesObject[]>>): readonly string[] {
  const installations = Object.entries(cells).map(([namespace, objects]) => installationOf(objects, namespace));
  return installations.flatMap((from) =>
    installations.flatMap((to) => (from === to ? [] : wrongBetween(from, to, GLOBAL))),
  );
}

const GLOBAL: readonly string[] = SERVICES.filter(({ isGlobal }) => isGlobal).map(({ name }) => name);
const NAMESPACE_LABEL = 'kubernetes.io/metadata.name';

interface InstalledPod {
  readonly name: ServiceName;
  readonly labels: Labels;
  /** Null: of the same installation as its peers. */
  readonly namespace: string | null;
}

interface Installation {
  readonly policies: readonly Policy[];
  readonly pods: readonly InstalledPod[];
}

function installationOf(objects: readonly KubernetesObject[], namespace: string | null = null): Installation {
  return {
    policies: objects.filter(({ kind }) => kind === 'NetworkPolicy').map(({ spec }) => spec as unknown as Policy),
    pods: objects
      .filter(({ kind }) => kind === 'Deployment')
      .map(({ spec }) => spec?.template?.metadata?.labels ?? {})
      .map((labels) => ({ name: labels['app.kubernetes.io/component'] as ServiceName, labels, namespace })),
  };
}

/** With `one`, only calls from or to one of these services are expected. */
function wrongBetween(from: Installation, to: Installation, one?: readonly string[]): readonly string[] {
  return from.pods.flatMap((caller) =>
    to.pods.flatMap((called) => {
      const isOpen = allows(from.policies, 'Egress', caller, called) && allows(to.policies, 'Ingress', called, caller);
      const isExpected = one === undefined || one.includes(caller.name) || one.includes(called.name);
      const isCalled = isExpected && CALLS[caller.name].includes(called.name);
      if (isOpen === isCalled || (one !== undefined && called.name === 'gateway')) return [];
      const where = called.namespace === null ? '' : ` of ${called.namespace}`;
      return [
        `${caller.name} ${isOpen ? 'may reach' : 'cannot reach'} ${called.name}${where}, which it ${isCalled ? 'calls' : 'does not call'}`,
      ];
    }),
  );
}

function allows(
  policies: readonly Policy[],
  direction: 'Ingress' | 'Egress',
  pod: InstalledPod,
  peer: InstalledPod,
): boolean {
  const rules = rulesOf(policies, direction, pod.labels);
  return rules.some(({ from, to, ports = [] }) => {
    const peers = direction === 'Egress' ? to : from;
    const isPort = ports.length === 0 || ports.some(({ port }) => port === 'http' || port === 8080);
    return isPort && (peers === undefined || peers.some((one) => isPeer(one, peer)));
  });
}

function rulesOf(policies: readonly Policy[], direction: 'Ingress' | 'Egress', pod: Labels): readonly Rule[] {
  return policies
    .filter(({ podSelector, policyTypes }) => policyTypes.includes(direction) && matches(podSelector.matchLabels, pod))
    .flatMap(({ ingress = [], egress = [] }) => (direction === 'Ingress' ? ingress : egress));
}

function isPeer({ podSelector, namespaceSelector }: Peer, { labels, namespace }: InstalledPod): boolean {
  if (podSelector === undefined && namespaceSelector === undefined) return false;
  const isThere =
    namespaceSelector === undefined
      ? namespace === null
      : namespace !== null && matches(namespaceSelector.matchLabels, { [NAMESPACE_LABEL]: namespace });
  return isThere && matches(podSelector?.matchLabels, labels);
}

function matches(selector: Labels = {}, labels: Labels): boolean {
  return Object.entries(selector).every(([name, value]) => labels[name] === value);
}

function outside(policies: readonly Policy[], name: ServiceName, labels: Labels): string[] {
  const uses = SERVICES.find((service) => service.name === name)?.outside ?? [];
  const open = rulesOf(policies, 'Egress', labels)
    .flatMap(({ to = [] }) => to)
    .filter(({ ipBlock }) => ipBlock?.cidr === '0.0.0.0/0');
  const isWanted = uses.some((use) => use !== 'mail');
  const unguarded = open.filter(({ ipBlock }) => !PRIVATE.every((block) => ipBlock?.except?.includes(block)));
  return [
    ...(open.length > 0 === isWanted ? [] : [`${name} ${isWanted ? 'cannot reach' : 'may reach'} public addresses`]),
    ...(unguarded.length === 0 ? [] : [`${name} may reach private addresses`]),
  ];
}
