import { servicePrincipal } from '@wts/access';
import { credentialApi } from '@wts/contracts';
import type { ServiceClient } from '@wts/service-kit/call';

/** The addresses of a person that their identity providers verified. */
export type AddressReader = (userId: string) => Promise<readonly string[]>;

const principal = servicePrincipal('workspace');

/** Asks the auth service, which keeps the identities of people. */
export function addressReader(auth: ServiceClient): AddressReader {
  return async (userId) => {
    const { addresses } = await auth.call(credentialApi.internalListAddresses, {
      principal,
      body: { userId },
      idempotent: true,
    });
    return addresses;
  };
}
