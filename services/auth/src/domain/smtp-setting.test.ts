import assert from 'node:assert/strict';
import { parseSender, parseSmtpUrl } from './smtp-setting.ts';

describe('the setting of the mail server', () => {
  it('asks for TLS, unless the server is on this machine or the operator switches it off', () => {
    const tlsOf = (text: string): string => parseSmtpUrl(text).tls;
    assert.equal(tlsOf('smtps://mail.example.com'), 'always');
    assert.equal(tlsOf('smtp://mail.example.com'), 'required');
    assert.equal(tlsOf('smtp://mail.example.com?tls=off'), 'off');
    for (const host of ['127.0.0.1', '[::1]', 'localhost']) assert.equal(tlsOf(`smtp://${host}:2525`), 'off');
  });

  it('has ports and credentials as other programs read them', () => {
    assert.deepEqual(parseSmtpUrl('smtps://ada%40example.com:p%2Fw@mail.example.com'), {
      host: 'mail.example.com',
      port: 465,
      tls: 'always',
      auth: { user: 'ada@example.com', pass: 'p/w' },
    });
    assert.deepEqual(parseSmtpUrl('smtp://[::1]'), { host: '::1', port: 587, tls: 'off', auth: null });
  });

  it('is refused when it is not understood, and no message repeats the password', () => {
    for (const text of [
      '',
      'mail.example.com',
      'http://a:secret@mail.example.com',
      'smtp://a:secret@mail.example.com/x',
      'smtp://a:secret@mail.example.com?tls.rejectUnauthorized=false',
      'smtps://a:secret@mail.example.com?tls=off',
      'smtp://a:secret@mail.example.com?tls=maybe',
    ]) {
      assert.throws(
        () => parseSmtpUrl(text),
        ({ message }: Error) => !message.includes('secret'),
        text,
      );
    }
  });

  it('names a sender by an address, with or without a name', () => {
    assert.deepEqual(parseSender('tasks@example.com'), { name: '', address: 'tasks@example.com' });
    const named = { name: 'Example Tasks', address: 'tasks@example.com' };
    assert.deepEqual(parseSender(' Example Tasks <tasks@example.com> '), named);
    for (const text of ['', 'Tasks', 'a@b\nBcc: c@d', 'A <a@b', 'a@b>', 'A\r\n <a@b>', '"A" <a@b>'])
      assert.throws(() => parseSender(text), text);
  });
});
