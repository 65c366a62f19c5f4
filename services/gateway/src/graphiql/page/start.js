// GraphiQL with a field for the API key. The key stays in this tab: it is sent to this server only, and forgotten with the tab.
const KEY = 'wts-api-key';
const input = document.getElementById('api-key');
input.value = sessionStorage.getItem(KEY) ?? '';
input.addEventListener('input', () => sessionStorage.setItem(KEY, input.value.trim()));

/** Runs an operation. An error of the API, such as a missing key, is shown in the place of the result. */
async function fetcher(operation, { headers = {} } = {}) {
  const key = input.value.trim();
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

/** GraphiQL reads the schema with an operation, which needs a key; the document of the schema needs none. */
async function start() {
  const schema = await (await fetch('graphql/schema.graphql')).text();
  const { createElement } = React;
  ReactDOM.createRoot(document.getElementById('graphiql')).render(
    createElement(GraphiQL, {
      fetcher,
      schema: GraphiQL.GraphQL?.buildSchema?.(schema),
      defaultQuery: EXAMPLE,
      defaultEditorToolsVisibility: 'variables',
      shouldPersistHeaders: false,
    }),
  );
}

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

start();
