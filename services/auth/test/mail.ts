import { eventually, openMailCatcher, type CaughtMail, type MailCatcher } from '@wts/testkit';
import { openTestPages, type TestPages } from './people.ts';

/** The pages of a service that sends mail, and what it sent. */
export class MailPages implements AsyncDisposable {
  readonly pages: TestPages;
  readonly catcher: MailCatcher;

  private constructor(pages: TestPages, catcher: MailCatcher) {
    this.pages = pages;
    this.catcher = catcher;
  }

  static async open(settings: Record<string, string> = {}): Promise<MailPages> {
    const catcher = await openMailCatcher();
    return new MailPages(await openTestPages({ SMTP_URL: catcher.smtpUrl, ...settings }), catcher);
  }

  /** The newest mail to an address whose subject has these words; waits for it. */
  async mailTo(address: string, words: string): Promise<CaughtMail> {
    return eventually(() =>
      this.catcher.mails.findLast(({ to, subject }) => to === address && subject.includes(words)),
    );
  }

  /** The path of the link in it. */
  async linkTo(address: string, words: string): Promise<string> {
    const { links } = await this.mailTo(address, words);
    return (links[0] ?? '').slice(this.pages.issuer.length);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pages.testService.service.close();
    await this.catcher[Symbol.asyncDispose]();
  }
}
