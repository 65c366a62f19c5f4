/** Of wide pages: sections with rows, and the links between the pages of an account. */
export const LIST_STYLE = `section {
  margin-top: 28px;
  padding-top: 24px;
  border-top: 1px solid var(--line);
}
section > p {
  margin-bottom: 16px;
}
section > .rows:last-child {
  margin-bottom: -12px;
}
.rows {
  margin: 0 0 18px;
  padding: 0;
  list-style: none;
}
section > h2 + .rows {
  margin-top: 12px;
}
.rows li {
  display: flex;
  align-items: center;
  justify-content: space-between;
  gap: 16px;
  padding: 12px 0;
  border-top: 1px solid var(--line);
}
.rows .what {
  min-width: 0;
  overflow-wrap: anywhere;
}
.rows .more {
  display: block;
}
.rows .name {
  display: block;
  font-weight: 600;
}
.head {
  display: flex;
  align-items: flex-start;
  justify-content: space-between;
  gap: 16px;
}
.head h1 + p {
  margin-bottom: 0;
}
code.token {
  display: block;
  margin: 8px 0 0;
  padding: 10px 12px;
  border: 1px solid currentColor;
  border-radius: 8px;
  background: var(--card);
  color: var(--text);
  font: 14px/1.5 ui-monospace, 'SF Mono', Menlo, Consolas, monospace;
  overflow-wrap: anywhere;
  user-select: all;
}
nav.links {
  display: flex;
  flex-wrap: wrap;
  gap: 4px 20px;
  margin: 16px 0 0;
  font-size: 14.5px;
}
nav.pages {
  display: flex;
  gap: 4px;
  margin: 20px -8px 0;
  overflow-x: auto;
  border-bottom: 1px solid var(--line);
}
nav.pages a {
  display: flex;
  align-items: center;
  min-height: 44px;
  padding: 0 12px;
  border-bottom: 3px solid transparent;
  color: var(--quiet);
  font-size: 15px;
  text-decoration: none;
  white-space: nowrap;
}
nav.pages a:focus-visible {
  outline-offset: -3px;
}
nav.pages a[aria-current] {
  border-bottom-color: var(--accent);
  color: var(--text);
  font-weight: 600;
}
nav.pages + section,
.after + section {
  margin-top: 0;
  border-top: 0;
}
section > .turn {
  display: flex;
  gap: 12px;
}
.rows form {
  flex: none;
}
.after {
  margin: 20px 0 -6px;
}
`;
