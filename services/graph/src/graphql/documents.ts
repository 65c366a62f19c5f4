import { createHash } from 'node:crypto';
import { LIMITS } from '@wts/contracts';
import { SetupError } from '@wts/service-kit/config';
import { GraphQLError, Kind, parse, validate, visit, type DocumentNode, type GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import { GRAPH_LIMITS } from '../limits.ts';
import { graphError, short } from '../domain/errors.ts';
import { planCost, type CostPlan } from './rules/cost.ts';
import { introspectionOf } from './rules/introspection.ts';
import { refusalOf } from './rules/structure.ts';
import { VALIDATION_RULES } from './rules/values.ts';
import { fragmentsOf } from './selections.ts';

/** One operation of a document that may run. */
export interface Operation {
  readonly kind: 'query' | 'mutation';
  readonly name: string | null;
  readonly cost: CostPlan;
}

/** A document that fits the schema, with everything that does not depend on a request. */
export interface Document {
  readonly text: string;
  readonly ast: DocumentNode;
  readonly operations: readonly Operation[];
  /** Whether it reads the schema, which graphql-js does in one turn of the event loop. */
  readonly introspects: boolean;
}

/** One of the two is there, or both. */
export interface DocumentRequest {
  readonly text: string | null;
  readonly hash: string | null;
}

export type DocumentOutcome = 'known' | 'read' | 'refused';

interface DocumentsOptions {
  readonly schema: GraphQLSchema;
  /** The only documents that run, by their hashes; absent when every valid one does. */
  readonly allowed?: ReadonlyMap<string, string>;
  readonly observe?: (outcome: DocumentOutcome) => void;
}

/** `extensions.persistedQuery.sha256Hash`: lowercase hexadecimal digits. */
const HASH = /^[0-9a-f]{64}$/;

/**
 * Documents by their text and by the SHA-256 hash of it. A text is parsed and validated once while it is in memory. A document
 * that was used twice is displaced only by others that were used twice, so that a caller who sends a new text with each request
 * does not displace the documents of others. With a list of allowed documents, no other one runs.
 * Keeps graphql.limit.shape, graphql.documents.hash.
 */
export class Documents {
  readonly #options: DocumentsOptions;
  readonly #usedOnce = new BoundedDocuments(GRAPH_LIMITS.documentsUsedOnceBytesMax);
  readonly #used = new BoundedDocuments(GRAPH_LIMITS.documentsBytesMax);
  readonly #allowedTexts: ReadonlySet<string> | null;

  constructor(options: DocumentsOptions) {
    this.#options = options;
    const { allowed } = options;
    this.#allowedTexts = allowed === undefined ? null : new Set(allowed.values());
    // A list with a wrong document is a fault of the deployment, which must show at the start.
    for (const [hash, text] of allowed ?? []) {
      const read = this.#read(text);
      if ('errors' in read) throw new SetupError(`DOCUMENTS_FILE: ${hash}: ${read.errors[0]?.message}`);
    }
  }

  /** Memory of the documents, about. */
  get bytes(): number {
    return this.#usedOnce.bytes + this.#used.bytes;
  }

  /** Whether `find` would neither parse nor validate. */
  isKnown({ text, hash }: DocumentRequest): boolean {
    const own = (hash === null ? undefined : this.#options.allowed?.get(hash)) ?? text;
    return own === null || this.#used.has(own) || this.#usedOnce.has(own);
  }

  /** The document of a request, or why there is none. */
  find({ text, hash }: DocumentRequest): Document | readonly GraphQLError[] {
    return hash === null ? this.#findByText(text ?? '') : this.#findByHash(hash, text);
  }

  #findByHash(hash: string, text: string | null): Document | readonly GraphQLError[] {
    const allowed = this.#options.allowed?.get(hash);
    if (allowed !== undefined) return this.#findByText(allowed);
    if (!HASH.test(hash)) return [graphError('BAD_USER_INPUT', 'sha256Hash must have 64 digits of 0-9 and a-f.')];
    if (text === null) {
      const found = this.#used.withHash(hash) ?? this.#usedOnce.withHash(hash);
      return found ?? [graphError('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound')];
    }
    if (createHash('sha256').update(text).digest('hex') !== hash)
      return [graphError('BAD_USER_INPUT', 'sha256Hash is not the hash of query.')];
    const found = this.#findByText(text);
    if ('ast' in found) for (const documents of [this.#used, this.#usedOnce]) documents.name(found.text, hash);
    return found;
  }

  #findByText(text: string): Document | readonly GraphQLError[] {
    const { observe } = this.#options;
    const used = this.#used.get(text);
    if (used !== undefined) {
      observe?.('known');
      return used;
    }
    const usedOnce = this.#usedOnce.get(text);
    if (usedOnce !== undefined) {
      observe?.('known');
      this.#used.move(text, this.#usedOnce);
      return usedOnce;
    }
    if (this.#allowedTexts?.has(text) === false) {
      observe?.('refused');
      return [graphError('FORBIDDEN', 'This server runs only the documents of its list.')];
    }
    const read = this.#read(text);
    if ('errors' in read) {
      observe?.('refused');
      return read.errors;
    }
    observe?.('read');
    this.#usedOnce.add(read.document, sizeOf(read.document));
    return read.document;
  }

  #read(text: string): { readonly document: Document } | { readonly errors: readonly GraphQLError[] } {
    const { schema } = this.#options;
    const ast = parsed(text);
    if (ast instanceof GraphQLError) return { errors: [ast] };
    if (depthOfValues(ast) > LIMITS.jsonDepth) return { errors: [tooDeep()] };
    const refusal = refusalOf(ast);
    if (refusal !== null) return { errors: [refusal] };
    const errors = validated(schema, ast);
    if (errors.length > 0) return { errors };
    const introspection = introspectionOf(schema, ast);
    if (introspection.refusal !== null) return { errors: [introspection.refusal] };
    const { introspects } = introspection;
    return { document: { text, ast, operations: operationsOf(schema, ast), introspects } };
  }
}

const tooDeep = (): GraphQLError => graphError('PARSE_FAILED', 'The document is nested too deeply.');

/** How deep objects and lists are in each other. Without this bound the stack of the engine would be it, and what fits there differs from run to run. */
function depthOfValues(document: DocumentNode): number {
  let [depth, deepest] = [0, 0];
  const nested = { enter: () => void (deepest = Math.max(deepest, (depth += 1))), leave: () => void (depth -= 1) };
  visit(document, { ObjectValue: nested, ListValue: nested });
  return deepest;
}

function parsed(text: string): DocumentNode | GraphQLError {
  try {
    return parse(text, { maxLexicalTokens: LIMITS.graphTokensMax, maxComments: GRAPH_LIMITS.commentsMax });
  } catch (error) {
    if (error instanceof RangeError) return tooDeep();
    if (!(error instanceof GraphQLError)) throw error;
    const { message, source, positions } = error;
    return new GraphQLError(short(message), { source, positions, extensions: { code: 'PARSE_FAILED' } });
  }
}

/** The parser and the rules recurse, so a document within all limits may still be nested too deeply for the stack. */
function validated(schema: GraphQLSchema, ast: DocumentNode): readonly GraphQLError[] {
  try {
    return validate(schema, ast, VALIDATION_RULES, { maxErrors: GRAPH_LIMITS.validationErrorsMax }).map(asInvalid);
  } catch (error) {
    if (error instanceof RangeError) return [graphError('VALIDATION_FAILED', 'The document is nested too deeply.')];
    throw error;
  }
}

function asInvalid({ message, nodes }: GraphQLError): GraphQLError {
  return new GraphQLError(short(message), { nodes, extensions: { code: 'VALIDATION_FAILED' } });
}

function operationsOf(schema: GraphQLSchema, document: DocumentNode): Operation[] {
  const fragments = fragmentsOf(document);
  const operations = document.definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
  return operations.map((operation) => ({
    kind: operation.operation === 'mutation' ? 'mutation' : 'query',
    name: operation.name?.value ?? null,
    cost: planCost(schema, operation, fragments),
  }));
}

/** The operation of a request, as the specification of GraphQL chooses it (section 6.1, GetOperation). */
export function operationOf({ operations }: Document, name: string | null): Operation | GraphQLError {
  const found = name === null ? operations : operations.filter((operation) => operation.name === name);
  const [operation, ...others] = found;
  if (operation !== undefined && others.length === 0) return operation;
  if (name !== null) return graphError('BAD_USER_INPUT', `The document has no operation "${name.slice(0, 100)}".`);
  return graphError('BAD_USER_INPUT', 'The document has several operations, so the request needs operationName.');
}

/** A token takes some hundred bytes as a part of the tree. */
const TOKEN_BYTES = 400;

function sizeOf({ text, ast }: Document): number {
  return 2 * text.length + TOKEN_BYTES * (ast.tokenCount ?? 0);
}

interface KeptDocument {
  readonly document: Document;
  readonly bytes: number;
  hash: string | null;
}

/** Documents with a bounded size together; the one that was used longest ago is displaced first. */
class BoundedDocuments {
  readonly #byText: LRUCache<string, KeptDocument>;
  readonly #byHash = new Map<string, Document>();

  constructor(bytesMax: number) {
    this.#byText = new LRUCache({
      maxSize: bytesMax,
      sizeCalculation: ({ bytes }) => bytes,
      dispose: ({ hash }) => {
        if (hash !== null) this.#byHash.delete(hash);
      },
    });
  }

  get bytes(): number {
    return this.#byText.calculatedSize;
  }

  get(text: string): Document | undefined {
    return this.#byText.get(text)?.document;
  }

  has(text: string): boolean {
    return this.#byText.has(text);
  }

  withHash(hash: string): Document | undefined {
    return this.#byHash.get(hash);
  }

  /** A document that is larger than all together may be is not stored. */
  add(document: Document, bytes: number, hash: string | null = null): void {
    this.#byText.set(document.text, { document, bytes, hash });
    if (hash !== null && this.#byText.has(document.text)) this.#byHash.set(hash, document);
  }

  /** Takes a document over. */
  move(text: string, from: BoundedDocuments): void {
    const entry = from.#byText.peek(text);
    if (entry === undefined) return;
    from.#byText.delete(text);
    this.add(entry.document, entry.bytes, entry.hash);
  }

  /** Makes a document known by its hash. */
  name(text: string, hash: string): void {
    const entry = this.#byText.peek(text);
    if (entry === undefined) return;
    entry.hash = hash;
    this.#byHash.set(hash, entry.document);
  }
}
