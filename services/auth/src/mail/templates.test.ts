import assert from 'node:assert/strict';
import { quoted, renderMail } from './templates.ts';

const EVIL = 'Ada\r\nBcc: x@evil.example <a href="https://evil.example">click</a>\u202E';

describe('the text of a mail', () => {
  it('quotes names on one line, without markup, and makes no link of them [authentication.mail.names]', () => {
    const data = {
      url: 'https://auth.example/link?token=t',
      workspaceName: EVIL,
      inviter: EVIL,
      role: 'member',
      expiresAt: '2026-12-01T00:00:00Z',
    };
    const { subject, text, html } = renderMail('invitation', data);
    assert.ok(!/[\r\n\u202E]/.test(subject));
    assert.ok(!html.includes('<a href="https://evil') && html.includes('&lt;a href='));
    for (const one of [subject, text, html]) assert.ok(!/https?:\/\/evil|evil\.example|x@evil/.test(one), one);
    assert.deepEqual(text.match(/https?:\/\/\S+/g), [data.url]);
    assert.ok(quoted('x'.repeat(500)).length <= 82);
  });

  it('says the same in text and HTML, and loads nothing', () => {
    const { text, html } = renderMail('password-reset', { url: 'https://auth.example/link?token=t' });
    for (const one of [text, html]) assert.match(one, /works once, for 30 minutes/);
    assert.ok(!/<img|<script|<link|url\(/.test(html));
    assert.equal(
      html.match(/https:\/\/[^"<]+/g)?.every((url) => url === 'https://auth.example/link?token=t'),
      true,
    );
  });
});
