/**
 * Starts Swagger UI. The page keeps an entered token only in memory and calls no external validator. It may call only its own
 * origin, so "Try it out" uses the host under which the page was opened: `localhost` and `127.0.0.1` are two origins.
 * Swagger UI is dark under a class of the root only. Swagger UI filters by tag only; `opsFilter` finds an operation by any text in it.
 */
export const PAGE_SCRIPT = `const dark = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followScheme);
followScheme();

const description = new URL('openapi.json', location.href);

function opsFilter(taggedOps, phrase) {
  const wanted = phrase.toLowerCase();
  return taggedOps
    .map((tag) =>
      tag.update('operations', (operations) =>
        operations.filter((operation) => JSON.stringify(operation).toLowerCase().includes(wanted)),
      ),
    )
    .filter((tag) => tag.get('operations').size > 0);
}

SwaggerUIBundle({
  url: 'openapi.json',
  responseInterceptor(response) {
    if (response.url !== description.href || response.status !== 200) return response;
    const servers = [{ url: new URL('.', description).href.replace(/\\/$/, '') }];
    response.text = JSON.stringify({ ...JSON.parse(response.text), servers });
    return response;
  },
  dom_id: '#reference',
  deepLinking: true,
  displayRequestDuration: true,
  filter: true,
  plugins: [() => ({ fn: { opsFilter } })],
  defaultModelsExpandDepth: 0,
  persistAuthorization: false,
  validatorUrl: null,
});
`;
