import { openBrowser, openMailCatcher, receiver, startTestSystem, testAuthority } from '@wts/testkit';
import type { MailCatcher, Receiver, TestSystem } from '@wts/testkit';
import { IdentityProvider, newKey, WEB_CLIENT } from './identity-provider.ts';

export type Browser = Awaited<ReturnType<typeof openBrowser>>;

export interface BrowserSystem {
  readonly browser: Browser;
  readonly testSystem: TestSystem;
  readonly provider: IdentityProvider;
  readonly mail: MailCatcher;
  /** An HTTPS server whose certificate the dispatcher of webhooks trusts. */
  readonly consumer: Receiver;
}

const owned = new AsyncDisposableStack();
let opening: Promise<BrowserSystem> | undefined;

/** One real browser and one system for all files with pages of the services. Skips the test where there is no Chromium. */
export async function browserSystem(context: Mocha.Context): Promise<BrowserSystem> {
  opening ??= open(context);
  try {
    return await opening;
  } catch (error) {
    opening = undefined;
    throw error;
  }
}

after(() => owned.disposeAsync());

async function open(context: Mocha.Context): Promise<BrowserSystem> {
  const browser = await openBrowser(context);
  owned.defer(() => browser.close());
  const authority = await testAuthority();
  const consumer = owned.use(await receiver({ identity: await authority.issue() }));
  const provider = owned.use(await IdentityProvider.plan([newKey('first')]));
  const OIDC_PROVIDER = JSON.stringify({ issuer: provider.issuer, clientId: WEB_CLIENT, name: 'Example Corp' });
  const mail = owned.use(await openMailCatcher());
  const testSystem = owned.use(
    await startTestSystem({
      label: 'browser',
      authHost: 'localhost',
      issuers: [provider.configuration],
      services: ['webhook-dispatcher', 'graph'],
      overrides: {
        gateway: { GRAPHIQL: 'on' },
        auth: { OIDC_PROVIDER, SMTP_URL: mail.smtpUrl },
        'webhook-dispatcher': {
          WEBHOOK_EXTRA_CA_FILE: authority.caFile,
          WEBHOOK_RETRY_SCHEDULE: '20ms,20ms,20ms,20ms,20ms,20ms,20ms',
        },
      },
    }),
  );
  provider.webRedirect = `${testSystem.authUrl}/sign-in/callback`;
  await provider.start();
  return { browser, testSystem, provider, mail, consumer };
}
