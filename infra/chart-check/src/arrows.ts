import { CALLS, type ServiceName } from '@wts/contracts';
import { SERVICES } from '@wts/local';
import type { KubernetesObject, Labels } from './objects.ts';

interface Peer {
  readonly podSelector?: { readonly matchLabels?: Labels };
  readonly namespaceSelector?: object;
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
  const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy').map(({ spec }) => spec as unknown as Policy);
  const pods = new Map(
    objects
      .filter(({ kind }) => kind === 'Deployment')
      .map(({ spec }) => spec?.template?.metadata?.labels ?? {})
      .map((labels) => [labels['app.kubernetes.io/component'] as ServiceName, labels]),
  );
  return [...pods].flatMap(([from, labels]) => [
    ...[...pods].flatMap(([to, others]) => {
      const isOpen = allows(policies, 'Egress', labels, others) && allows(policies, 'Ingress', others, labels);
      const isCalled = CALLS[from].includes(to);
      if (isOpen === isCalled) return [];
      return [
        `${from} ${isOpen ? 'may reach' : 'cannot reach'} ${to}, which it ${isCalled ? 'calls' : 'does not call'}`,
      ];
    }),
    ...outside(policies, from, labels),
  ]);
}

function allows(policies: readonly Policy[], direction: 'Ingress' | 'Egress', pod: Labels, peer: Labels): boolean {
  const rules = rulesOf(policies, direction, pod);
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

function isPeer({ podSelector, namespaceSelector }: Peer, labels: Labels): boolean {
  return namespaceSelector === undefined && podSelector !== undefined && matches(podSelector.matchLabels, labels);
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
