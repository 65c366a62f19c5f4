import * as contracts from '@wts/contracts';
import type { Operation } from './checks/wiring.ts';

/** Every operation `@wts/contracts` exports, under the name its users write. */
export function declaredOperations(): readonly Operation[] {
  return walk(contracts, '');
}

function walk(namespace: object, prefix: string): readonly Operation[] {
  return Object.entries(namespace).flatMap(([name, value]: [string, unknown]): readonly Operation[] => {
    if (contracts.isContract(value)) return [{ ...value, name: `${prefix}${name}` }];
    return isNamespace(value) ? walk(value, `${name}.`) : [];
  });
}

function isNamespace(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.prototype.toString.call(value) === '[object Module]';
}

/** Every pattern that their schemas hold a text against. */
export function declaredPatterns(): readonly string[] {
  return [...new Set(declaredOperations().flatMap((operation) => patternsIn(operation)))];
}

function patternsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) =>
    key === 'pattern' && typeof inner === 'string' ? [inner] : patternsIn(inner),
  );
}
