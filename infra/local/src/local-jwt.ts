/** The issuer of tokens for people of this machine, whose secret `.local/stack.json` has. */
export const LOCAL_JWT = { issuer: 'https://local.wts.example', audience: 'wts-local' } as const;
