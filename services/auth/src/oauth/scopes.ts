import { oauthApi, type GrantScope } from '@wts/contracts';

/** The known scopes of a space-separated list, in one order, each once; all of them when the parameter is left out. */
export function readScopes(scope: string | undefined): readonly GrantScope[] {
  if (scope === undefined) return oauthApi.GRANT_SCOPES;
  const asked = scope.split(' ');
  return oauthApi.GRANT_SCOPES.filter((known) => asked.includes(known));
}
