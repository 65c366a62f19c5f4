import { Fault, workspaceApi } from '@wts/contracts';

const reserved = new Set(workspaceApi.URL_KEYS_RESERVED);

/** The shape of a urlKey is held by the contract; here stands what no pattern can say. */
export function checkUrlKey(urlKey: string): void {
  if (reserved.has(urlKey))
    throw new Fault('validation_failed', { message: 'body/urlKey is a reserved word; choose another one' });
}
