import type { Guest } from '../commands/sign-in-by-password.ts';
import type { PageCall } from './mount-page.ts';

/** Who sends a request, as far as it is known before a sign-in. */
export function guestOf({ browser, network, visitor, signal }: PageCall): Guest {
  return { browserId: browser.id, network, visitor, signal };
}
