import type { Principal } from '@wts/contracts';
import { Fault } from '@wts/contracts';
import type { AddressReader } from '../client-address.ts';
import { networkOf } from '../client-address.ts';
import type { RateLimits, RatePolicy } from '../rates/policies.ts';
import { FAILED_CREDENTIALS, RATE_POLICIES, withLimit } from '../rates/policies.ts';
import type { Standing, Tally } from '../rates/tally.ts';
import type { Exchange } from './exchange.ts';
import type { CompiledRoute } from './route-table.ts';

interface LimiterParts {
  readonly tally: Tally;
  /** Told whenever something was counted. */
  readonly onCounted: () => void;
  readonly addressOf: AddressReader;
  readonly limits: RateLimits;
  readonly now?: () => number;
}

/** A policy at work on a request, under the name its count is kept by. */
interface Watch {
  readonly policy: RatePolicy;
  readonly key: string;
  readonly standing: Standing;
}

/**
 * How often: the step between who calls and what they get. What is counted per address is looked at before the
 * credential is; the rest once it is known who calls. Refuses with 429, `Retry-After` and the same in the body, and says
 * on every answer how much is left.
 * Keeps errors.429.retry-after, limits.rate.headers, limits.rate.address.
 */
export class RateLimiter {
  readonly #parts: LimiterParts;
  readonly #policies: readonly RatePolicy[];
  readonly #failed: RatePolicy | null;
  readonly #byRoute = new Map<CompiledRoute, readonly RatePolicy[]>();
  readonly #watched = new WeakMap<Exchange, Watch[]>();
  readonly #now: () => number;

  constructor(parts: LimiterParts) {
    this.#parts = parts;
    this.#policies = RATE_POLICIES.flatMap((policy) => withLimit(policy, parts.limits) ?? []);
    this.#failed = withLimit(FAILED_CREDENTIALS, parts.limits);
    this.#now = parts.now ?? Date.now;
  }

  /** Before anybody is asked who calls. */
  checkAddress(exchange: Exchange, route: CompiledRoute): void {
    for (const policy of this.#of(route)) {
      if (policy.per === 'address') this.#check(exchange, policy, this.networkOf(exchange));
    }
  }

  /** Once it is known who calls. */
  checkCaller(exchange: Exchange, route: CompiledRoute): void {
    const { principal } = exchange;
    for (const policy of this.#of(route)) {
      if (policy.per === 'address' || principal === null) continue;
      this.#check(exchange, policy, policy.per === 'person' ? principal.userId : callerOf(principal));
    }
    this.#announce(exchange);
  }

  /** A refused credential: what to answer. */
  refuse(exchange: Exchange, failure: unknown): unknown {
    if (!(failure instanceof Fault) || failure.status !== 401 || this.#failed === null) return failure;
    const key = `${this.#failed.name} ${this.networkOf(exchange)}`;
    const standing = this.#count(this.#failed, key);
    if (standing.count <= this.#failed.limit) return failure;
    this.#watch(exchange).push({ policy: this.#failed, key, standing });
    this.#announce(exchange);
    return this.#tooMany(standing);
  }

  /**
   * The answer is out: counts those that are counted by their status. Whoever was refused for their credential or its scope
   * never got to try anything, and has no part in what others at their address may.
   */
  answered(exchange: Exchange, status: number): void {
    if (exchange.principal === null && exchange.route?.contract.scope !== 'none') return;
    for (const { policy, key } of this.#watched.get(exchange) ?? []) {
      if (policy.onStatus?.includes(status)) this.#count(policy, key);
    }
  }

  #check(exchange: Exchange, policy: RatePolicy, whose: string): void {
    const key = `${policy.name} ${whose}`;
    const windowMs = policy.windowSeconds * 1000;
    const isCounted = policy.onStatus === undefined;
    const standing = isCounted ? this.#count(policy, key) : this.#parts.tally.read(key, windowMs);
    this.#watch(exchange).push({ policy, key, standing });
    if (isCounted ? standing.count <= policy.limit : standing.count < policy.limit) return;
    this.#announce(exchange);
    // It is refused for what came before; refusing it is no further mistake of theirs.
    this.#watched.delete(exchange);
    throw this.#tooMany(standing);
  }

  #count(policy: RatePolicy, key: string): Standing {
    const standing = this.#parts.tally.add(key, policy.windowSeconds * 1000);
    this.#parts.onCounted();
    return standing;
  }

  #tooMany({ endsAt }: Standing): Fault {
    return new Fault('rate_limited', { retryAfterSeconds: this.#secondsUntil(endsAt) });
  }

  /**
   * draft-ietf-httpapi-ratelimit-headers-10, and for older clients the three common lines, about the tightest policy.
   */
  #announce(exchange: Exchange): void {
    const watches = this.#watched.get(exchange);
    if (watches === undefined || watches.length === 0) return;
    const left = ({ policy, standing }: Watch): number => Math.max(0, policy.limit - standing.count);
    const tightest = watches.reduce((one, other) => (left(other) < left(one) ? other : one));
    const reset = this.#secondsUntil(tightest.standing.endsAt);
    exchange.reply.push(
      'RateLimit-Policy',
      watches.map(({ policy }) => `"${policy.name}";q=${policy.limit};w=${policy.windowSeconds}`).join(', '),
      'RateLimit',
      watches
        .map((watch) => `"${watch.policy.name}";r=${left(watch)};t=${this.#secondsUntil(watch.standing.endsAt)}`)
        .join(', '),
      'X-RateLimit-Limit',
      String(tightest.policy.limit),
      'X-RateLimit-Remaining',
      String(left(tightest)),
      'X-RateLimit-Reset',
      String(reset),
    );
  }

  #secondsUntil(endsAt: number): number {
    return Math.max(1, Math.ceil((endsAt - this.#now()) / 1000));
  }

  #watch(exchange: Exchange): Watch[] {
    const watches = this.#watched.get(exchange) ?? [];
    this.#watched.set(exchange, watches);
    return watches;
  }

  #of(route: CompiledRoute): readonly RatePolicy[] {
    const known = this.#byRoute.get(route);
    if (known !== undefined) return known;
    const policies = this.#policies.filter(({ appliesTo }) => appliesTo(route.contract));
    this.#byRoute.set(route, policies);
    return policies;
  }

  /** Whose request it is as long as nobody knows who calls. */
  networkOf({ peer, headers }: Exchange): string {
    return networkOf(this.#parts.addressOf(peer, headers.forwardedFor));
  }
}

/** Tokens of a signed-in person are renewed all the time; they are one caller. */
function callerOf({ userId, credential }: Principal): string {
  return credential.kind === 'jwt' ? userId : credential.id;
}
