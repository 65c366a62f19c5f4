import { escaped } from '../local-page.ts';
import type { Figure, Figures, Unit } from './metrics.ts';
import type { Trace, Traces, TraceSpan } from './traces.ts';

export const STYLE = `:root{color-scheme:light dark;--line:#8886;--bar:#2563eb;--bad:#b91c1c;--soft:#8882}
@media(prefers-color-scheme:dark){:root{--bar:#7cacf8;--bad:#fca5a5}}
body{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:0 auto;padding:1rem}
h1{font-size:1.5rem;margin:.5rem 0}h2{font-size:1.15rem;margin:1.5rem 0 .5rem}a{color:inherit}
.groups{display:grid;grid-template-columns:repeat(auto-fit,minmax(20rem,1fr));gap:0 1.5rem}
table{border-collapse:collapse;width:100%}th,td{padding:.3rem .5rem;border-bottom:1px solid var(--line);text-align:left;font-weight:400;vertical-align:middle}
thead th{font-weight:600}th.number{text-align:right}td.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td.course{width:8rem}svg{display:block;width:100%;height:1.75rem;overflow:visible}
polyline{fill:none;stroke:var(--bar);stroke-width:1.5;vector-effect:non-scaling-stroke}rect{fill:var(--bar)}rect.failed{fill:var(--bad)}
.failed{color:var(--bad);font-weight:600}.quiet{opacity:.75}td a{display:inline-block;min-height:24px;overflow-wrap:anywhere}
label{display:inline-flex;gap:.5rem;align-items:center;min-height:24px}.waterfall td:first-child{width:45%}details{font-size:.875rem}
dl{display:grid;grid-template-columns:auto 1fr;gap:0 .75rem;margin:.25rem 0}dd{margin:0;overflow-wrap:anywhere}
.depth{white-space:pre;opacity:.6}@media(max-width:40rem){td.course{width:5rem}.traces :is(th,td):nth-child(2){display:none}.waterfall td:nth-child(3){min-width:6rem}}`;

/** Replaces what changes, every two seconds, and keeps the focus. */
export const REFRESH = `const isOn = document.getElementById('refresh');
setInterval(async () => {
  if (!isOn.checked || document.hidden) return;
  const reply = await fetch('/').catch(() => null);
  if (reply === null || !reply.ok) return;
  const next = new DOMParser().parseFromString(await reply.text(), 'text/html').querySelector('main');
  const focused = document.activeElement?.id;
  document.querySelector('main').replaceWith(next);
  if (focused) document.getElementById(focused)?.focus();
}, 2000);`;

export function overviewPage(figures: Figures, traces: Traces): string {
  const unreachable =
    figures.unreachable.length === 0
      ? ''
      : `<p class="failed">No metrics from: ${escaped(figures.unreachable.join(', '))}</p>`;
  const groups = figures.groups.map(
    ({
      title,
      figures: own,
    }) => `<section><h2>${title}</h2><table><thead><tr><th scope="col">Figure</th><th scope="col" class="number">Now</th>
<th scope="col">Last five minutes</th></tr></thead><tbody>${own.map(figureRow).join('\n')}</tbody></table></section>`,
  );
  const list = traces.entries.slice(0, 50);
  const rows = list.map((trace) => {
    const { root, durationMs, isFailed } = summaryOf(trace);
    const services = [...new Set(trace.spans.map(({ service }) => service))].join(', ');
    return `<tr><td><a id="t${trace.id}" href="/traces/${trace.id}">${escaped(root.name)}</a>${isFailed ? ' <span class="failed">failed</span>' : ''}</td>
<td>${escaped(services)}</td><td class="number">${trace.spans.length}</td><td class="number">${inMs(durationMs)}</td>
<td class="number">${new Date(root.startMs).toISOString().slice(11, 23)}</td></tr>`;
  });
  const table =
    rows.length === 0
      ? '<p>No trace yet. Each request begins one, and it is here about a second later.</p>'
      : `<table class="traces"><thead><tr><th scope="col">Begins with</th><th scope="col">Services</th><th scope="col" class="number">Spans</th><th scope="col" class="number">Time</th>
<th scope="col" class="number">At (UTC)</th></tr></thead><tbody>${rows.join('\n')}</tbody></table>`;
  return page(
    'Observe',
    `<h1>Observe</h1><p><label><input type="checkbox" id="refresh" checked> Refresh every two seconds</label></p>
<main>${unreachable}<div class="groups">${groups.join('\n')}</div><section><h2>Newest traces</h2>${table}</section></main>`,
    '<script src="/refresh.js" defer></script>',
  );
}

export function tracePage(trace: Trace, traces: Traces): string {
  const { root, startMs, durationMs } = summaryOf(trace);
  const caused = traces
    .linkedTo(trace.id)
    .map(
      (other) =>
        `<li><a href="/traces/${other.id}">${escaped(summaryOf(other).root.service)}: ${escaped(summaryOf(other).root.name)}</a></li>`,
    );
  const causes = [...new Set(trace.spans.flatMap(({ links }) => links))].filter((id) => id !== trace.id);
  const links = causes.map((id) => {
    const cause = traces.find(id);
    return `<li>${cause === null ? id : `<a href="/traces/${id}">${escaped(summaryOf(cause).root.name)}</a>`}</li>`;
  });
  const rows = inOrder(trace.spans).map(([span, depth]) => spanRow(span, depth, { startMs, durationMs }));
  return page(
    `Trace of ${root.name}`,
    `<p><a href="/">All traces</a></p><main><h1>${escaped(root.name)}</h1><p class="quiet">${inMs(durationMs)}, ${trace.spans.length} spans, trace ${trace.id}</p>
<table class="waterfall"><thead><tr><th scope="col">Span</th><th scope="col" class="number">Time</th><th scope="col">Course</th></tr></thead><tbody>${rows.join('\n')}</tbody></table>
${links.length === 0 ? '' : `<h2>Caused by</h2><ul>${links.join('')}</ul>`}
${caused.length === 0 ? '' : `<h2>Caused, in traces of their own</h2><ul>${caused.join('')}</ul>`}</main>`,
  );
}

function spanRow(span: TraceSpan, depth: number, whole: { startMs: number; durationMs: number }): string {
  const at = (ms: number): number => (whole.durationMs === 0 ? 0 : Math.min(100, (ms / whole.durationMs) * 100));
  const [x, width] = [at(span.startMs - whole.startMs), Math.max(0.5, at(span.durationMs))];
  const attributes = span.attributes.map(([name, value]) => `<dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>`);
  const failed = span.isFailed ? ' class="failed"' : '';
  return `<tr><td><details><summary><span class="depth">${'  '.repeat(depth)}</span><span${failed}>${escaped(span.service)} ${escaped(span.name)}${span.isFailed ? ', failed' : ''}</span></summary>
<dl>${attributes.join('')}</dl></details></td><td class="number">${inMs(span.durationMs)}</td>
<td><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect${failed} x="${x.toFixed(2)}" y="2" width="${width.toFixed(2)}" height="6"/></svg></td></tr>`;
}

/** Each span behind its parent, with its depth. */
function inOrder(spans: readonly TraceSpan[]): [TraceSpan, number][] {
  const ids = new Set(spans.map(({ id }) => id));
  const below = Map.groupBy(spans, ({ parentId }) => (parentId !== null && ids.has(parentId) ? parentId : null));
  const walk = (parentId: string | null, depth: number): [TraceSpan, number][] =>
    (below.get(parentId) ?? []).flatMap((span) => [[span, depth], ...walk(span.id, depth + 1)]);
  return walk(null, 0);
}

function summaryOf({ spans }: Trace): { root: TraceSpan; startMs: number; durationMs: number; isFailed: boolean } {
  const ids = new Set(spans.map(({ id }) => id));
  const root =
    spans.find(({ parentId }) => parentId === null || !ids.has(parentId)) ??
    spans.reduce((one, other) => (other.startMs < one.startMs ? other : one));
  const startMs = Math.min(...spans.map((span) => span.startMs));
  const endMs = Math.max(...spans.map((span) => span.startMs + span.durationMs));
  return { root, startMs, durationMs: endMs - startMs, isFailed: spans.some((span) => span.isFailed) };
}

function figureRow({ title, unit, values }: Figure): string {
  return `<tr><th scope="row">${escaped(title)}</th><td class="number">${shown(values.findLast((value) => value !== null) ?? null, unit)}</td>
<td class="course">${courseOf(values)}</td></tr>`;
}

/** A line of the values, the newest at the right. The number beside it is what it says last. */
function courseOf(values: readonly (number | null)[]): string {
  const max = Math.max(...values.map((value) => value ?? 0), Number.MIN_VALUE);
  const points = values.flatMap((value, index) =>
    value === null ? [] : [`${150 - values.length + index},${(20 - (value / max) * 18).toFixed(1)}`],
  );
  if (points.length < 2) return '';
  return `<svg viewBox="0 0 150 20" preserveAspectRatio="none" aria-hidden="true"><polyline points="${points.join(' ')}"/></svg>`;
}

function shown(value: number | null, unit: Unit): string {
  if (value === null) return '–';
  if (unit === 'seconds') return inMs(value * 1000);
  if (unit === 'bytes') return `${(value / 1024 / 1024).toFixed(0)} MiB`;
  if (unit === 'share') return `${(value * 100).toFixed(1)} %`;
  return unit === 'per second' ? `${value.toFixed(1)}/s` : String(Math.round(value * 100) / 100);
}

function inMs(ms: number): string {
  return ms < 10 ? `${ms.toFixed(1)} ms` : ms < 10_000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function page(title: string, body: string, script = ''): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title><link rel="stylesheet" href="/style.css">${script}</head><body>${body}</body></html>`;
}
