/** Of second factors: buttons for passkeys, the QR code, recovery codes, and another way. */
export const FACTOR_STYLE = `.passkey {
  margin-top: 12px;
}
.passkey .note {
  margin: 12px 0 0;
}
main.wide .passkey > button {
  width: auto;
}
main.wide section form + form {
  margin-top: 12px;
}
main.wide section form + .note {
  margin-top: 18px;
}
.qr {
  width: 216px;
  margin: 0 auto 18px;
  padding: 6px;
  border-radius: 10px;
  background: #ffffff;
  color: #000000;
}
.qr svg {
  display: block;
}
ul.codes {
  display: grid;
  grid-template-columns: repeat(auto-fit, minmax(170px, 1fr));
  gap: 6px 16px;
  margin: 0 0 18px;
  padding: 14px;
  list-style: none;
  border: 1px solid var(--line);
  border-radius: 10px;
}
ul.codes code {
  font: 15px/1.5 ui-monospace, 'SF Mono', Menlo, Consolas, monospace;
  white-space: nowrap;
}
details.more {
  margin-top: 18px;
}
details.more summary {
  display: flex;
  align-items: center;
  min-height: 44px;
  color: var(--accent);
  cursor: pointer;
}
`;
