import { form, page } from './pages.ts';

/** The authorization endpoint (RFC 6749 section 3.1), which takes its parameters from a query or a form. */
export const authorize = page({
  id: 'authorize',
  path: '/authorize',
  summary: 'Where a client sends a person for access',
});
export const authorizeForm = form({ id: 'authorizeForm', path: '/authorize', summary: 'The same, by a form' });

export const consentPage = page({
  id: 'consentPage',
  path: '/consent',
  summary: 'Where a person decides about a client',
});
export const consent = form({ id: 'consent', path: '/consent', summary: 'The decision' });
