/** Writers, followers and consumers of webhooks that use one system all the time, as those of `npm run soak` do. */
import {
  changeEveryKind,
  checkEnd,
  DeliveryCheck,
  every,
  headOf,
  keepWriting,
  loadCopy,
  startFollowers,
  tally,
  webhooksText,
  WebhookConsumers,
  type AuditFinding,
  type CheckedSystem,
  type Span,
} from '@wts/verify';
import { OWN_ADDRESS } from './network.ts';

export const CHECK_EVERY_MS = 3_000;
/** Of each writer. */
const WRITE_EVERY_MS = 300;

interface LoadSize {
  /** Of the endpoints of webhooks. */
  readonly identity: { readonly cert: string; readonly key: string };
  readonly writers: number;
  readonly sockets: number;
  /** Each change is sent up to so many times in parallel. */
  readonly copiesMax?: number;
}

type ClientCopy = Awaited<ReturnType<typeof loadCopy>>;

export class Load {
  retries = 0;
  /** An error in one of them ends the run. */
  readonly background: Promise<unknown>[] = [];
  readonly check: DeliveryCheck;
  readonly system: CheckedSystem;
  readonly consumers: WebhookConsumers;
  readonly #copy: ClientCopy;

  private constructor(system: CheckedSystem, consumers: WebhookConsumers, copy: ClientCopy) {
    this.system = system;
    this.check = new DeliveryCheck(system);
    this.consumers = consumers;
    this.#copy = copy;
  }

  static async start(
    stack: AsyncDisposableStack,
    system: CheckedSystem,
    { identity, writers, sockets, copiesMax = 1 }: LoadSize,
    stop: AbortSignal,
  ): Promise<Load> {
    const consumers = stack.use(await WebhookConsumers.open(system, stop, { identity, host: OWN_ADDRESS }));
    const copy = await loadCopy({ baseUrl: system.baseUrl, token: system.apiKey });
    const load = new Load(system, consumers, copy);
    const { check } = load;
    const context = { testSystem: system, check, start: await headOf(system), stop, isCalm: () => false, stack };
    load.background.push(
      ...(await startFollowers(context, sockets)),
      changeEveryKind(system, stop),
      consumers.change(),
      every(CHECK_EVERY_MS, stop, async () => void (await check.runRound())),
      keepWriting(system, writers, stop, {
        everyMs: () => WRITE_EVERY_MS,
        copiesMax,
        onAcknowledged: (acknowledgement) => check.acknowledge(acknowledgement),
        onRetry: () => (load.retries += 1),
      }),
    );
    return load;
  }

  /** Waits for the last deliveries, and compares everything with the log. Endpoints may get events twice in `kills`. */
  async finish(kills: readonly Span[]): Promise<{ summary: string[]; findings: readonly AuditFinding[] }> {
    const { check } = this;
    await checkEnd(this.system, check, this.#copy);
    const report = await this.consumers.check(kills);
    check.report(report.findings);
    const summary = [
      `changes    ${check.acknowledged} acknowledged, ${this.retries} sent again`,
      `received   ${check.delivered} entries, checked in ${check.rounds} rounds`,
      `webhooks   ${webhooksText(report)}`,
      `findings   ${tally(check.findings)}`,
    ];
    return { summary, findings: check.findings };
  }
}
