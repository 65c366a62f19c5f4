import assert from 'node:assert/strict';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Of a redirect: where it leads. */
  readonly to: URL | null;
  /** Names and values of the cookies it sets, with their attributes. */
  readonly setCookies: readonly string[];
}

type Fields = Readonly<Record<string, string>>;

/** A browser without a script: it keeps cookies, follows links and sends forms. */
export class TestBrowser {
  readonly cookies = new Map<string, string>();
  readonly #url: string;
  readonly #issuer: string;
  readonly #headers: Fields;

  /** `issuer` is the public address that redirects lead to; requests go to `url`. */
  constructor({ url, issuer, headers = {} }: { url: string; issuer: string; headers?: Fields }) {
    this.#url = url;
    this.#issuer = issuer;
    this.#headers = headers;
  }

  get(path: string): Promise<Answer> {
    return this.#send('GET', path, {});
  }

  /** Sends a form as a page of this site does. `headers` replace those of a browser. */
  post(path: string, fields: Fields, headers: Fields = {}): Promise<Answer> {
    return this.#send('POST', path, {
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        origin: 'null',
        'sec-fetch-site': 'same-origin',
        ...headers,
      },
      body: new URLSearchParams(fields).toString(),
    });
  }

  /** Opens a page, follows its redirects on this site, fills in its form and sends it. */
  async submit(path: string, fields: Fields, action?: string): Promise<Answer> {
    const page = await this.open(path);
    return this.post(action ?? actionOf(page), { ...hiddenOf(page, action), ...fields });
  }

  /** Follows redirects as long as they lead to this site. */
  async open(path: string): Promise<Answer> {
    let answer = await this.get(path);
    for (let hops = 0; answer.to !== null && answer.to.href.startsWith(this.#issuer) && hops < 5; hops += 1)
      answer = await this.get(answer.to.href.slice(this.#issuer.length));
    return answer;
  }

  async #send(method: string, path: string, request: { headers?: Fields; body?: string }): Promise<Answer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(`${this.#url}${path}`, {
      method,
      redirect: 'manual',
      headers: { ...this.#headers, ...(cookie === '' ? {} : { cookie }), ...request.headers },
      ...(request.body === undefined ? {} : { body: request.body }),
    });
    const setCookies = response.headers.getSetCookie();
    for (const line of setCookies) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (line.includes('Max-Age=0')) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const location = response.headers.get('location');
    const to = location === null ? null : new URL(location, this.#issuer);
    return { status: response.status, headers: response.headers, text: await response.text(), to, setCookies };
  }
}

const FORM = /<form method="post" action="([^"]+)">(.*?)<\/form>/gs;
const HIDDEN = /<input type="hidden" name="([^"]+)" value="([^"]*)" \/>/g;

function formOf(page: Answer, action?: string): RegExpMatchArray {
  const found = [...page.text.matchAll(FORM)].find(([, to]) => action === undefined || to === action);
  assert.ok(found, `no form ${action ?? ''} on: ${page.status} ${page.text.slice(0, 2000)}`);
  return found;
}

function actionOf(page: Answer): string {
  return formOf(page)[1] ?? '';
}

/** The hidden fields of a form: its token, and what the page carries along. */
export function hiddenOf(page: Answer, action?: string): Record<string, string> {
  return Object.fromEntries(
    [...(formOf(page, action)[2] ?? '').matchAll(HIDDEN)].map(([, name = '', value = '']) => [
      name,
      value.replaceAll('&quot;', '"').replaceAll('&amp;', '&'),
    ]),
  );
}
