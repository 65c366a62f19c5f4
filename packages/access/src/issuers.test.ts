import assert from 'node:assert/strict';
import { parseIssuers } from './issuers.ts';

const secret = 'a secret that is long enough, 32 bytes';
const shared = { issuer: 'https://idp.test', audiences: ['wts'], algorithms: ['HS256'], secret };
const remote = {
  issuer: 'https://idp.test',
  audiences: ['wts'],
  algorithms: ['RS256'],
  jwksUri: 'https://idp.test/keys',
};

function refusal(...entries: unknown[]): string {
  try {
    parseIssuers(JSON.stringify(entries));
  } catch (fault) {
    return (fault as Error).message;
  }
  return 'accepted';
}

describe('the list of issuers', () => {
  it('is read into issuers with a secret or a key set', () => {
    const [one, two] = parseIssuers(JSON.stringify([shared, { ...remote, issuer: 'other' }]));
    assert.deepEqual(one?.key, { secrets: [secret] });
    assert.deepEqual(two?.key, { jwksUri: 'https://idp.test/keys' });
    assert.deepEqual(parseIssuers('[]'), []);
  });

  it('accepts a secret of 32 bytes, and a key set on this machine by plain http', () => {
    parseIssuers(JSON.stringify([{ ...shared, secret: 'kV7pQ2xLw9ZrT4sBnY6mHc3DfGjA8eUq' }]));
    parseIssuers(JSON.stringify([{ ...remote, jwksUri: 'http://127.0.0.1:1/keys' }]));
  });

  it('counts an e-mail address without the claim email_verified as verified only where that is configured [authentication.jwt.email-verified]', () => {
    const trusts = (more: object): boolean | undefined =>
      parseIssuers(JSON.stringify([{ ...shared, ...more }]))[0]?.trustsEmails;
    assert.deepEqual(
      [trusts({}), trusts({ trustsEmails: false }), trusts({ trustsEmails: true })],
      [false, false, true],
    );
    assert.match(refusal({ ...shared, trustsEmails: 'true' }), /"trustsEmails" must be true or false/);
  });

  it('must be a list', () => {
    for (const json of ['{}', 'null', '"x"']) assert.throws(() => parseIssuers(json), /must be a JSON array/);
  });

  it('does not change the name of an issuer', () =>
    assert.equal(
      parseIssuers(JSON.stringify([{ ...shared, issuer: 'https://idp.test/' }]))[0]?.issuer,
      'https://idp.test/',
    ));

  const refused: Readonly<Record<string, [unknown[], RegExp]>> = {
    'an entry that is no object': [['x'], /must be an object/],
    'no issuer': [[{ ...shared, issuer: '' }], /needs "issuer"/],
    'no audience': [[{ ...shared, audiences: [] }], /needs "audiences"/],
    'an empty audience': [[{ ...shared, audiences: [''] }], /needs "audiences"/],
    'no algorithm': [[{ ...shared, algorithms: [] }], /needs "algorithms"/],
    'the algorithm none': [[{ ...shared, algorithms: ['none'] }], /cannot use the algorithm none/],
    'a shared algorithm with public keys': [
      [{ ...remote, algorithms: ['RS256', 'HS256'] }],
      /cannot use the algorithm HS256/,
    ],
    'a public algorithm with a secret': [[{ ...shared, algorithms: ['RS256'] }], /cannot use the algorithm RS256/],
    'a secret and a key set': [[{ ...shared, jwksUri: remote.jwksUri }], /either "secret" or "jwksUri"/],
    'neither a secret nor a key set': [[{ ...shared, secret: undefined }], /either "secret" or "jwksUri"/],
    'a secret that repeats itself': [[{ ...shared, secret: 'x'.repeat(32) }], /repeats itself/],
    'three secrets': [[{ ...shared, secret: [secret, `${secret}2`, `${secret}3`] }], /one, or a list of two/],
    'a short secret beside another': [[{ ...shared, secret: [secret, 'x'.repeat(31)] }], /at least 32 bytes/],
    'a short secret': [[{ ...shared, secret: 'x'.repeat(31) }], /at least 32 bytes/],
    'a key set in clear over the network': [
      [{ ...remote, jwksUri: 'http://idp.test/keys' }],
      /must be an https address/,
    ],
    'a key set address with a password': [[{ ...remote, jwksUri: 'https://a:b@idp.test/' }], /without credentials/],
    'a key set address with a name': [[{ ...remote, jwksUri: 'https://a@idp.test/' }], /without credentials/],
    'an issuer that is a number': [[{ ...shared, issuer: 7 }], /needs "issuer"/],
    'a key set that is no address': [[{ ...remote, jwksUri: 'keys' }], /must be an https address/],
    'an unknown field': [[{ ...shared, algoritms: ['HS256'] }], /unknown field "algoritms"/],
    'the same issuer twice': [[shared, remote], /names one issuer twice/],
  };
  for (const [what, [entries, sentence]] of Object.entries(refused))
    it(`refuses ${what} with a message`, () => assert.match(refusal(...entries), sentence));

  it('never repeats a secret in a message', () => {
    const broken = JSON.stringify([shared]).slice(0, -3);
    assert.throws(
      () => parseIssuers(broken),
      (fault) => !(fault as Error).message.includes('secret that'),
    );
    assert.ok(!refusal({ ...shared, secret: 'short-secret' }).includes('short-secret'));
  });
});
