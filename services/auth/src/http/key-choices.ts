import { isUuid, type NewApiKey } from '@wts/contracts';
import { KEY_ACCESS, KEY_LIFETIMES } from '../pages/key-choices.ts';
import type { Parameters } from './parameters.ts';

const DAY_MS = 24 * 60 * 60_000;

/** What the person chose in a form with the choices of a key. What is left out is the first of its list; null when one is of no list. */
export function readKeyChoices(form: Parameters): Omit<NewApiKey, 'label'> | null {
  const [leastAccess = 'read-only'] = KEY_ACCESS;
  const permissions = KEY_ACCESS.find((access) => access === (form.get('access') ?? leastAccess));
  const [[shortest] = []] = KEY_LIFETIMES;
  const lifetime = KEY_LIFETIMES.get(form.get('expires') ?? shortest ?? '');
  const workspaceId = form.get('workspace');
  if (permissions === undefined || lifetime === undefined || (workspaceId !== undefined && !isUuid(workspaceId)))
    return null;
  const { days } = lifetime;
  return {
    permissions,
    ...(workspaceId === undefined ? {} : { workspaceId }),
    ...(days === null ? {} : { expiresAt: new Date(Date.now() + days * DAY_MS).toISOString() }),
  };
}
