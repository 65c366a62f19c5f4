/** Which file is what, by its path alone. */

export const isTypeScript = (path: string): boolean => path.endsWith('.ts');

export const isTest = (path: string): boolean => path.endsWith('.test.ts');

/** Code that ships: neither tests and what serves them, nor the tools of infra. */
export const isProduct = (path: string): boolean =>
  isTypeScript(path) && !isTest(path) && /^(services|packages)\/[^/]+\/src\//.test(path);

export const isMarkdown = (path: string): boolean => path.endsWith('.md');

/** Text worth reading: not the lock file, not pictures. */
export const isProse = (path: string): boolean =>
  /\.(ts|mjs|js|json|md|ya?ml|sql|sh|toml|html|css)$/.test(path) && !isLockFile(path);

export const isLockFile = (path: string): boolean => path === 'pnpm-lock.yaml';
