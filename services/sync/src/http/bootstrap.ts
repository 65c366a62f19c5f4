import { syncApi, type BootstrapParameters } from '@wts/contracts';
import { mountStream, type Call } from '@wts/service-kit/routes';
import type { Router } from 'express';
import type { Bootstraps } from '../bootstrap/bootstrap.ts';
import type { ClientModels } from '../bootstrap/client-models.ts';
import { parseBootstrap } from '../bootstrap/parsed-bootstrap.ts';
import type { OpenAnswers } from '../snapshots/open-answers.ts';
import { chooseEncoding, sendLines, sendSnapshot } from '../snapshots/send.ts';

type BootstrapCall = Pick<Call, 'principal' | 'res' | 'signal'>;

interface Context {
  readonly bootstraps: Bootstraps;
  readonly clientModels: ClientModels;
  readonly openAnswers: OpenAnswers;
}

/** GET and POST /sync/bootstrap. Parameters in the body override those in the query. Keeps sync.bootstrap.post. */
export function mountBootstrap(router: Router, { bootstraps, clientModels, openAnswers }: Context): void {
  const send = (call: BootstrapCall, parameters: BootstrapParameters): Promise<void> =>
    openAnswers.run(call, async (signal) => {
      const { principal, res } = call;
      const { userId } = principal;
      const requested = await clientModels.complete(userId, parameters, signal);
      const request = parseBootstrap(principal, requested);
      await clientModels.keep(userId, requested, signal);
      using answer = await bootstraps.answer(request, chooseEncoding(res.req), signal);
      const { firstLine, rest } = answer;
      if (rest === null) sendLines(res, `${firstLine}{"type":"end","rowCount":0}\n`);
      else await sendSnapshot(res, rest, firstLine);
    });
  mountStream(router, syncApi.bootstrap, (call) => send(call, call.query));
  mountStream(router, syncApi.bootstrapPost, (call) => send(call, { ...call.query, ...call.body }));
}
