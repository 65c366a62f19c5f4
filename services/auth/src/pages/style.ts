import { FACTOR_STYLE } from './style-factors.ts';
import { LIST_STYLE } from './style-lists.ts';

/** The style of all pages: one card on a quiet ground, for phones first, light or dark. Keeps authentication.consent.early-click. */
export const STYLE = `:root {
  color-scheme: light dark;
  --ground: #f5f6f8;
  --card: #ffffff;
  --line: #dfe2e8;
  --field: #868e9c;
  --text: #191c22;
  --quiet: #565e6c;
  --accent: #2f54c4;
  --accent-strong: #24439f;
  --on-accent: #ffffff;
  --soft: #f1f3f7;
  --danger: #a92323;
  --danger-soft: #fdf0f0;
  --notice: #7a4d00;
  --notice-soft: #fff7e5;
  --good: #1a6337;
  --good-soft: #eef8f1;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #121419;
    --card: #1b1e25;
    --line: #30353f;
    --field: #767f8e;
    --text: #eceef2;
    --quiet: #a6aebb;
    --accent: #8ba8ff;
    --accent-strong: #abc0ff;
    --on-accent: #0e1630;
    --soft: #242833;
    --danger: #ff9d9d;
    --danger-soft: #3a2023;
    --notice: #f3c877;
    --notice-soft: #352b17;
    --good: #93d9ac;
    --good-soft: #1b3125;
  }
}
* {
  box-sizing: border-box;
}
[hidden] {
  display: none !important;
}
html {
  -webkit-text-size-adjust: 100%;
}
body {
  margin: 0;
  min-height: 100vh;
  min-height: 100dvh;
  display: flex;
  flex-direction: column;
  align-items: center;
  padding: 24px 16px 40px;
  background: var(--ground);
  color: var(--text);
  font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif;
}
.product {
  display: flex;
  align-items: center;
  gap: 9px;
  margin: 0 0 20px;
  color: var(--quiet);
  font-size: 14px;
  font-weight: 600;
}
.product svg {
  display: block;
  color: var(--accent);
}
main {
  width: 100%;
  max-width: 412px;
  padding: 28px 24px;
  background: var(--card);
  border: 1px solid var(--line);
  border-radius: 14px;
}
main.wide {
  max-width: 680px;
}
h1 {
  margin: 0 0 6px;
  font-size: 23px;
  line-height: 1.25;
  font-weight: 650;
  letter-spacing: -0.012em;
  text-wrap: balance;
  overflow-wrap: anywhere;
}
h2 {
  margin: 0 0 2px;
  font-size: 17px;
  line-height: 1.35;
  font-weight: 650;
}
p {
  margin: 0 0 12px;
  overflow-wrap: anywhere;
}
h1 + p {
  margin-bottom: 22px;
}
main > p:last-child {
  margin-bottom: 0;
}
.quiet {
  color: var(--quiet);
}
.small {
  font-size: 14px;
}
p.small > a:only-child {
  display: inline-block;
  padding-block: 6px;
}
strong {
  font-weight: 650;
}
a {
  color: var(--accent);
  text-underline-offset: 2px;
}
a:hover {
  color: var(--accent-strong);
}
label {
  display: block;
  margin: 0 0 6px;
  font-size: 14px;
  font-weight: 600;
}
.field {
  margin: 0 0 16px;
}
.hint {
  margin: 6px 0 0;
  font-size: 13.5px;
  color: var(--quiet);
}
input,
select {
  display: block;
  width: 100%;
  min-height: 44px;
  padding: 9px 12px;
  border: 1px solid var(--field);
  border-radius: 8px;
  background: var(--card);
  color: var(--text);
  font: inherit;
}
input[readonly] {
  background: var(--soft);
}
input:focus-visible,
select:focus-visible,
button:focus-visible,
.button:focus-visible,
a:focus-visible,
summary:focus-visible {
  outline: 3px solid var(--accent);
  outline-offset: 2px;
}
button,
.button {
  display: block;
  width: 100%;
  min-height: 44px;
  padding: 9px 18px;
  border: 1px solid var(--accent);
  border-radius: 8px;
  background: var(--accent);
  color: var(--on-accent);
  font: inherit;
  font-weight: 600;
  text-align: center;
  text-decoration: none;
  cursor: pointer;
}
button.danger,
button.danger:hover {
  border-color: var(--danger);
  background: var(--danger);
  color: var(--card);
}
button.small,
.button.small {
  white-space: nowrap;
}
main.wide section > form > button {
  width: auto;
}
.grid {
  display: grid;
  gap: 0 12px;
  grid-template-columns: repeat(auto-fit, minmax(170px, 1fr));
}
button:hover,
.button:hover {
  background: var(--accent-strong);
  border-color: var(--accent-strong);
  color: var(--on-accent);
}
button.plain,
.button.plain {
  background: transparent;
  border-color: var(--field);
  color: var(--text);
}
button.plain:hover,
.button.plain:hover {
  background: var(--soft);
  color: var(--text);
}
button.small,
.button.small {
  font-size: 14px;
  width: auto;
  padding: 9px 14px;
}
button.link {
  display: inline;
  width: auto;
  min-height: 0;
  padding: 0;
  border: 0;
  border-radius: 4px;
  background: none;
  color: var(--accent);
  font-weight: inherit;
  text-decoration: underline;
  text-underline-offset: 2px;
}
button.link:hover {
  color: var(--accent-strong);
}
.choices {
  display: flex;
  flex-direction: row-reverse;
  gap: 12px;
  margin-top: 24px;
  animation: unready 800ms;
}
@keyframes unready { from, to { pointer-events: none; } }
.or {
  display: flex;
  align-items: center;
  gap: 12px;
  margin: 20px 0;
  color: var(--quiet);
  font-size: 14px;
}
.or::before,
.or::after {
  content: '';
  flex: 1;
  border-top: 1px solid var(--line);
}
.note {
  margin: 0 0 18px;
  padding: 11px 14px;
  border-radius: 8px;
  background: var(--soft);
  font-size: 14.5px;
  overflow-wrap: anywhere;
}
.note.wrong {
  background: var(--danger-soft);
  color: var(--danger);
}
.note.careful {
  background: var(--notice-soft);
  color: var(--notice);
}
.note.done {
  background: var(--good-soft);
  color: var(--good);
}
.note p:last-child {
  margin-bottom: 0;
}
.allowed {
  margin: 0 0 18px;
  padding: 0;
  list-style: none;
  border: 1px solid var(--line);
  border-radius: 10px;
}
.allowed li {
  position: relative;
  padding: 11px 14px 11px 40px;
}
.allowed li + li {
  border-top: 1px solid var(--line);
}
.allowed li::before {
  content: '';
  position: absolute;
  left: 16px;
  top: 15px;
  width: 6px;
  height: 11px;
  border: solid var(--good);
  border-width: 0 2px 2px 0;
  transform: rotate(42deg);
}
.foot {
  margin: 22px 0 0;
  padding-top: 16px;
  border-top: 1px solid var(--line);
  color: var(--quiet);
  font-size: 14.5px;
}
${LIST_STYLE}${FACTOR_STYLE}@media (min-width: 520px) {
  body {
    padding: 64px 24px;
  }
  main {
    padding: 34px 36px;
  }
}
`;
