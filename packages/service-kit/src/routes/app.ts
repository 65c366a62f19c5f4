import { Fault, meta } from '@wts/contracts';
import type { Express, NextFunction, Request, Response, Router } from 'express';
import express from 'express';
import type { Readiness } from '../observe/readiness.ts';
import { answerFailure } from '../http/answer.ts';
import { enter, type HttpOptions } from '../http/request-context.ts';
import { mount } from './mount.ts';
import { serviceReady } from './service-ready.ts';

interface AppOptions {
  readonly http: HttpOptions;
  readonly readiness: Readiness;
}

/**
 * The Express app of a service: strict and case-sensitive routes, one middleware, `/health` and `/ready`. Mount the service's routes
 * on it, then call `notFoundAndErrors`.
 */
export function createApp({ http, readiness }: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('query parser', false);
  app.set('case sensitive routing', true);
  app.set('strict routing', true);
  app.use(enter(http));
  mount(app, meta.health, async () => ({ ok: true, status: 'up' }));
  mount(app, serviceReady, async () => {
    await readiness.check();
    const background = readiness.background();
    return { ok: true, status: 'ready', ...(background === undefined ? {} : { background }) };
  });
  return app;
}

/** Handles requests without a route, and everything that was thrown. Called last. */
export function notFoundAndErrors(app: Express): void {
  app.use((req: Request, res: Response, next: NextFunction) => {
    // OPTIONS of the server as a whole (RFC 9110 section 9.3.7); `checkMessage` refuses `*` for other methods.
    if (req.url === '*') return res.writeHead(204, { Allow: METHODS.join(', ') }).end();
    const methods = methodsOf(app.router, req.path);
    if (methods.length === 0) return next(new Fault('not_found', { message: 'There is no operation at this path.' }));
    const allow = methods.join(', ');
    if (req.method !== 'OPTIONS') return next(new Fault('method_not_allowed', { headers: { Allow: allow } }));
    return res.writeHead(204, { Allow: allow }).end();
  });
  // Express recognizes an error handler by its four parameters.
  app.use((error: unknown, req: Request, res: Response, _next: NextFunction) => answerFailure(error, req, res));
}

/** The methods of all operations. */
const METHODS = ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS'] as const;

interface RouteLayer {
  readonly slash: boolean;
  match(path: string): unknown;
  readonly route?: { _methods(): string[] };
  readonly handle: { readonly stack?: readonly RouteLayer[] };
}

/** The methods of a path, from the router's own table, so that no second table can differ from it. */
function methodsOf(router: Router, path: string): string[] {
  const methods = new Set<string>();
  collect((router as unknown as { stack: readonly RouteLayer[] }).stack, path, methods);
  return [...methods].sort();
}

function collect(layers: readonly RouteLayer[], path: string, methods: Set<string>): void {
  for (const layer of layers) {
    if (layer.route === undefined) {
      if (layer.slash && layer.handle.stack !== undefined) collect(layer.handle.stack, path, methods);
    } else if (matches(layer, path)) {
      for (const method of layer.route._methods()) methods.add(method.toUpperCase());
    }
  }
}

function matches(layer: RouteLayer, path: string): boolean {
  try {
    return Boolean(layer.match(path));
  } catch {
    return false;
  }
}
