import { apiResourceOf, mcpResourceOf } from '@wts/access';
import { Fault } from '@wts/contracts';
import { cellAt, type CellSetting } from '../domain/cells-setting.ts';

/** A cell, as its resources need it. */
export type CellAddress = Pick<CellSetting, 'shard' | 'baseUrl'>;

/** The protected resources of a cell (RFC 8707). */
interface OfCell {
  readonly shard: number;
  readonly api: string;
  readonly mcp: string;
}

/**
 * The protected resources of this installation: the API and the agent endpoint of each cell. What a client may ask for, what a token is
 * for, and what the documents name are decided here.
 */
export class Resources {
  readonly #cells: readonly OfCell[];
  readonly #apis: readonly string[];

  constructor(cells: readonly CellAddress[], authUrl: string) {
    this.#cells = cells.map(({ shard, baseUrl }) => ({
      shard,
      api: apiResourceOf(baseUrl),
      mcp: mcpResourceOf({ shard, baseUrl, authUrl }),
    }));
    this.#apis = this.#cells.map(({ api }) => api);
  }

  /** Throws `unavailable` for a cell that CELLS does not name. */
  of(shard: number): OfCell {
    return cellAt(this.#cells, shard);
  }

  /** Those that a person grants: the one that a client asks for, all without one; null for another server's. */
  granted(asked: string | undefined): readonly string[] | null {
    return named(
      asked,
      this.#cells.flatMap(({ api, mcp }) => [api, mcp]),
    );
  }

  /**
   * The audience of a new access token: the resources of the grant, or one of them (RFC 8707 section 2.2). A token for the API is for each
   * cell, also for one that was added since the consent, because a workspace may move. One for an agent endpoint is for that cell alone.
   * Keeps agent.cells.audience.
   */
  audience(granted: readonly string[], asked: string | undefined): readonly string[] {
    const isForApi = (resources: readonly string[]): boolean => resources.some((one) => this.#apis.includes(one));
    const withEveryApi = (resources: readonly string[]): readonly string[] =>
      isForApi(resources) ? [...new Set([...resources, ...this.#apis])] : resources;
    const audience = named(asked, withEveryApi(granted));
    if (audience === null) throw new Fault('invalid_target');
    return withEveryApi(audience);
  }
}

/** A slash at the end is no difference. */
function named(asked: string | undefined, resources: readonly string[]): readonly string[] | null {
  if (asked === undefined) return resources;
  const found = resources.find((resource) => asked === resource || asked === `${resource}/`);
  return found === undefined ? null : [found];
}
