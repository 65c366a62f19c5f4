import { SERVICE_DEFAULTS, SERVICE_VALUES } from './service-values.ts';
import { isGroup, type Values } from './value.ts';
import { VALUES } from './values.ts';

/** The text of values.yaml: every value with its sentence, in YAML whose leaves are JSON. */
export function valuesFile(): string {
  return [
    '# Values of the chart. Made by `npm run settings`; infra/chart/values.md has them as a table.',
    ...linesOf(VALUES, ''),
    '# What holds for every service: gateway, workspace, auth, sync, graph, agent, webhook-dispatcher.',
    'defaults:',
    ...linesOf(SERVICE_VALUES, '  '),
    '# What differs for one service. Besides the values of `defaults`: `settings`, `secrets`.',
    'services:',
    ...Object.entries(SERVICE_DEFAULTS).map(([name, values]) => `  ${name}: ${JSON.stringify(values)}`),
    '',
  ].join('\n');
}

function linesOf(values: Values, indent: string): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const comment = `${indent}# ${value.doc}`;
    return isGroup(value)
      ? [comment, `${indent}${name}:`, ...linesOf(value.values, `${indent}  `)]
      : [comment, `${indent}${name}: ${JSON.stringify(value.default)}`];
  });
}
