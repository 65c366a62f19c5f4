import assert from 'node:assert/strict';
import { browserSystem } from './browser-system.ts';
import { PHONE, Tab } from './console-browser.ts';

describe('GraphiQL in a browser (skipped where there is no Chromium)', () => {
  it('runs an operation with the key that was entered, shows the schema, loads nothing from elsewhere, and fits a dark phone [graphql.page]', async function open() {
    const { browser, testSystem } = await browserSystem(this);
    const { baseUrl, apiKey } = testSystem;
    await using tab = await Tab.open(browser, baseUrl, '/graphql');
    const { page, faults } = tab;
    await page.locator('#api-key').fill(apiKey);
    await page.getByRole('button', { name: /execute query/i }).click();
    await page.locator('.result-window', { hasText: '"nodes"' }).waitFor();
    await page.getByRole('button', { name: /show documentation explorer/i }).click();
    await page.getByRole('link', { name: 'Query', exact: true }).click();
    await page.getByText('taskByNumber').first().waitFor();
    await page.getByRole('button', { name: /show history/i }).click();
    await page.locator('.graphiql-history', { hasText: 'Tasks' }).waitFor();
    for (const url of tab.requested) assert.ok(url.startsWith(`${baseUrl}/`) || url.startsWith('data:'), url);
    assert.deepEqual(faults, []);
    await page.setViewportSize(PHONE);
    await page.emulateMedia({ colorScheme: 'dark' });
    const layout = await page.evaluate<{ width: number; panes: number[][]; bar: string }>(`({
      width: document.documentElement.scrollWidth,
      panes: ['.graphiql-plugin', '.graphiql-editors', '.graphiql-response'].map((name) => {
        const pane = document.querySelector(name);
        const { top, bottom, width } = pane.getBoundingClientRect();
        // These buttons are drawn over the edge of a pane that is too low for them.
        const buttons = [...pane.querySelectorAll('.graphiql-toolbar button')];
        return [top, Math.max(bottom, ...buttons.map((one) => one.getBoundingClientRect().bottom)), width];
      }),
      bar: getComputedStyle(document.querySelector('header')).backgroundColor,
    })`);
    assert.equal(layout.width, PHONE.width);
    assert.equal(layout.bar, 'rgb(27, 30, 37)');
    for (const [index, [top = 0, bottom = 0, width = 0]] of layout.panes.entries()) {
      assert.ok(width > 300 && bottom - top > 100, `pane ${index} is ${width} x ${bottom - top}`);
      assert.ok(top >= (layout.panes[index - 1]?.[1] ?? 0), 'panes are one below the other');
    }
  });
});
