/**
 * Headers of the pages for people and of their files. A page loads from and calls only its own origin, has no inline scripts or
 * styles, and cannot be framed, so that an entered credential is sent only to this API. `data:` is for the icons of Swagger UI
 * and for the empty icon of a page. Keeps meta.docs.closed.
 */
export function pageHeaders(...moreDirectives: readonly string[]): readonly string[] {
  return [
    'Content-Security-Policy',
    [
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      ...moreDirectives,
    ].join('; '),
    'X-Frame-Options',
    'DENY',
    'Referrer-Policy',
    'no-referrer',
    'Cross-Origin-Opener-Policy',
    'same-origin',
    'Cross-Origin-Resource-Policy',
    'same-origin',
  ];
}
