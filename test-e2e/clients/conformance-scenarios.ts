/** Server scenarios of the conformance tool that apply to any server. Each runs once for each revision that it names. */
export const RUN: readonly string[] = [
  'server-initialize',
  'server-session-lifecycle',
  'server-stateless',
  'ping',
  'tools-list',
  'server-sse-multiple-streams',
  'resources-list',
  'sep-2164-resource-not-found',
  'prompts-list',
  'dns-rebinding-protection',
  'caching',
  'http-header-validation',
];

/** Failed checks of those scenarios that need a tool of the tool's own test server. */
export const NOT_TESTABLE: Readonly<Record<string, string>> = {
  'sep-2575-server-rejects-undeclared-capability': 'needs the tool test_missing_capability',
  'sep-2575-missing-capability-http-400': 'needs the tool test_missing_capability',
  'sep-2575-http-server-no-independent-requests-on-stream': 'needs the tool test_streaming_elicitation',
  'sep-2575-server-no-log-without-loglevel': 'needs the tool test_logging_tool',
};

/** Server scenarios that do not run, by the reason. `*` stands for any end. */
const SKIPPED: Readonly<Record<string, readonly string[]>> = {
  'they call tools of a test server, such as test_simple_text': [
    'tools-call-*',
    'server-sse-polling',
    'json-schema-2020-12',
    'elicitation-*',
    'input-required-result-*',
    'http-custom-header-server-validation',
  ],
  'they read resources of a test server, such as test://static-text': ['resources-read-*', 'resources-templates-read'],
  'they get prompts of a test server, such as test_simple_prompt': ['prompts-get-*'],
  'the endpoint does not announce these capabilities': [
    'logging-set-level',
    'completion-complete',
    'resources-subscribe',
    'resources-unsubscribe',
  ],
  'the endpoint does not announce these extensions': ['tasks-*', 'sep-2640-skills-*'],
};

export function reasonToSkip(scenario: string): string | undefined {
  const fits = (name: string): boolean =>
    name.endsWith('*') ? scenario.startsWith(name.slice(0, -1)) : scenario === name;
  return Object.entries(SKIPPED).find(([, names]) => names.some(fits))?.[0];
}
