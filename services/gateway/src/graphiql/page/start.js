/**
 * GraphiQL with a field for the API key, which stays in this tab: it is sent to this server only. The cost of each operation is
 * shown beside its result.
 */

/**
 * What the scripts before this one define.
 * @typedef {{ readonly createElement: (type: unknown, props: object) => unknown }} React
 * @typedef {{ readonly createRoot: (parent: Element) => { render(element: unknown): void } }} ReactDOM
 * @typedef {{ readonly GraphQL: { readonly buildSchema: (text: string) => unknown } }} GraphiQL
 */
const { React, ReactDOM, GraphiQL } =
  /** @type {{ readonly React: React, readonly ReactDOM: ReactDOM, readonly GraphiQL: GraphiQL }} */ (
    /** @type {unknown} */ (globalThis)
  );

const KEY = 'wts-api-key';
const EXAMPLE = `# Enter your API key above and press Ctrl-Enter.
query Tasks {
  viewer {
    name
  }
  tasks(first: 10) {
    nodes {
      number
      title
      project {
        name
      }
    }
  }
}
`;

const input = document.querySelector('input');
if (input === null) throw new Error('the page has no field for the key');
input.value = sessionStorage.getItem(KEY) ?? '';
input.addEventListener('input', () => sessionStorage.setItem(KEY, input.value.trim()));

/**
 * Runs an operation. An error of the API, such as a missing key, is shown in the place of the result.
 * @param {object} operation
 * @param {{ readonly headers?: Readonly<Record<string, string>> }} [options] the headers that were entered
 * @returns {Promise<unknown>}
 */
async function run(operation, { headers = {} } = {}) {
  const key = input?.value.trim() ?? '';
  const response = await fetch('graphql', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-graphql-cost': '1',
      ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
      ...headers,
    },
    body: JSON.stringify(operation),
  });
  return response.json();
}

// GraphiQL would read the schema with an operation, which needs a key.
const schema = await (await fetch('graphql/schema.graphql')).text();
const props = {
  fetcher: run,
  schema: GraphiQL.GraphQL.buildSchema(schema),
  defaultQuery: EXAMPLE,
  shouldPersistHeaders: false,
};
const main = document.querySelector('main');
if (main !== null) ReactDOM.createRoot(main).render(React.createElement(GraphiQL, props));
