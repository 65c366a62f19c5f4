import assert from 'node:assert/strict';
import { html } from './html.ts';

describe('the templates of pages', () => {
  it('escape every text, in elements and in attributes', () => {
    const text = `<script>alert("1")</script> & 'x'`;
    const escaped = '&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;x&#39;';
    assert.equal(html`<p title="${text}">${text}</p>`.text, `<p title="${escaped}">${escaped}</p>`);
  });

  it('keep HTML of other templates, in lists too, and write nothing for null', () => {
    // Inline elements: the formatter breaks lines between others.
    const items = ['a', '<b>'].map((item) => html`<i>${item}</i>`);
    assert.equal(html`<b>${items}</b>${null}${0}`.text, '<b><i>a</i><i>&lt;b&gt;</i></b>0');
  });
});
