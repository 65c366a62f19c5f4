import { form, page } from './pages.ts';

/** The authorization endpoint (RFC 6749 section 3.1), which takes its parameters from a query or a form. */
export const authorize = page('authorize', '/authorize', 'Where a client sends a person for access');
export const authorizeForm = form('authorizeForm', '/authorize', 'The same, by a form');

export const consentPage = page('consentPage', '/consent', 'Where a person decides about a client');
export const consent = form('consent', '/consent', 'The decision');
