import { Fault, syncApi } from '@wts/contracts';
import { mount } from '@wts/service-kit/routes';
import type { Router } from 'express';

/** GET /sync/ws without an upgrade is refused. The socket server handles upgrades. */
export function mountSocket(router: Router): void {
  mount(router, syncApi.socket, () =>
    Promise.reject(new Fault('upgrade_required', { headers: { Upgrade: 'websocket', Connection: 'upgrade' } })),
  );
}
