import { NOT_PUBLIC, parseTarget, type AddressGuard, type AddressResolver } from '@wts/service-kit/egress';

interface UrlRules {
  readonly guard: AddressGuard;
  readonly resolver: AddressResolver;
}

/**
 * Checks the URL of an endpoint when it is written: its form, and the addresses that its name has now. Returns a
 * sentence that names the fault, or null. A name that does not resolve is accepted: it may be created later, and
 * every connection is checked again when it is made.
 *
 * Keeps webhooks.create.url-https and webhooks.create.url-public.
 */
export async function checkEndpointUrl(text: string, { guard, resolver }: UrlRules): Promise<string | null> {
  const target = parseTarget(text, guard);
  if (typeof target === 'string') return target;
  if (target.isAddress) return null;
  const addresses = await resolver.resolve(target.host).catch(() => []);
  return addresses.every((address) => guard.allows(address)) ? null : NOT_PUBLIC;
}
