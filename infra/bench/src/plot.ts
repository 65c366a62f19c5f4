/** How one cost grows with a size. */
export interface PlotLine {
  readonly name: string;
  readonly who: 'ours' | 'peer';
  /** The unit of the cost. */
  readonly unit: string;
  /** The size. Lines with the same axis and unit share a panel. */
  readonly axis: string;
  readonly points: readonly { readonly size: number; readonly cost: number }[];
}

interface Panel {
  readonly axis: string;
  readonly unit: string;
  readonly lines: readonly PlotLine[];
}

const COLUMNS = 2;
const [PANEL_WIDTH, PANEL_HEIGHT] = [470, 320];
/** The margins of a panel; the top one has the legend. */
const [LEFT, RIGHT, TOP, BOTTOM] = [62, 28, 92, 46];
const FIELD = { width: PANEL_WIDTH - LEFT - RIGHT, height: PANEL_HEIGHT - TOP - BOTTOM };
const HEAD = 58;
const LEGEND_STEP = 18;
/** Each cost of a panel has a shape. Ours and the peer's differ by color and by dashes, so that the plot works without colors. */
const SHAPES = ['circle', 'square', 'triangle'] as const;

const LIGHT = { paper: '#ffffff', ink: '#1f2328', faint: '#59636e', grid: '#d1d9e0', ours: '#0550ae', peer: '#bc4c00' };
const DARK = { paper: '#0d1117', ink: '#f0f6fc', faint: '#9198a1', grid: '#3d444d', ours: '#79c0ff', peer: '#ffa657' };

/** The picture has its own background in both color schemes, because it cannot detect the background of the page. */
const STYLE = `
text { font: 12px system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif; }
.title { font-size: 17px; font-weight: 600; }
.head { font-size: 13px; font-weight: 600; }
.line { stroke-width: 2; }
.peer.line { stroke-dasharray: 6 4; }
${colors(LIGHT)}
@media (prefers-color-scheme: dark) {
${colors(DARK)}
}
`;

/** Without CSS variables, because not every viewer supports them. */
function colors({ paper, ink, faint, grid, ours, peer }: typeof LIGHT): string {
  return [
    `.paper { fill: ${paper}; }`,
    `text { fill: ${ink}; }`,
    `.faint { fill: ${faint}; }`,
    `.grid { stroke: ${grid}; }`,
    `.ours { stroke: ${ours}; fill: ${ours}; }`,
    `.peer { stroke: ${peer}; fill: ${peer}; }`,
    '.line { fill: none; }',
  ].join('\n');
}

/** Draws all lines: one panel for each axis and unit, with logarithmic scales. */
export function plot(lines: readonly PlotLine[], title: string, note: string): string {
  const panels = panelsOf(lines);
  const width = PANEL_WIDTH * Math.min(COLUMNS, Math.max(1, panels.length));
  const height = HEAD + PANEL_HEIGHT * Math.ceil(panels.length / COLUMNS);
  const drawn = panels.map((panel, index) => {
    const [x, y] = [(index % COLUMNS) * PANEL_WIDTH, HEAD + Math.floor(index / COLUMNS) * PANEL_HEIGHT];
    return `<g transform="translate(${x} ${y})">\n${drawPanel(panel)}\n</g>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escape(title)}</title>`,
    `<style>${STYLE}</style>`,
    `<rect class="paper" width="${width}" height="${height}"/>`,
    `<text class="title" x="20" y="28">${escape(title)}</text>`,
    `<text class="faint" x="20" y="47">${escape(note)}</text>`,
    ...drawn,
    '</svg>\n',
  ].join('\n');
}

function panelsOf(lines: readonly PlotLine[]): Panel[] {
  const drawable = lines.filter(({ points }) => points.some(({ cost }) => cost > 0));
  return [...Map.groupBy(drawable, ({ axis, unit }) => `${axis} ${unit}`).values()].flatMap((same) => {
    const [first] = same;
    return first === undefined ? [] : [{ axis: first.axis, unit: first.unit, lines: same }];
  });
}

function drawPanel({ axis, unit, lines }: Panel): string {
  const points = lines.flatMap((line) => line.points).filter(({ cost }) => cost > 0);
  const x = scale(
    points.map(({ size }) => size),
    LEFT,
    LEFT + FIELD.width,
  );
  const y = scale(
    points.map(({ cost }) => cost),
    TOP + FIELD.height,
    TOP,
  );
  const names = [...new Set(lines.map(({ name }) => name))];
  return [
    `<text class="head" x="${LEFT}" y="16">${escape(`${unit} over ${axis}`)}</text>`,
    ...y.ticks.map(
      (value) =>
        `<path class="grid" d="M${LEFT} ${y.of(value)}h${FIELD.width}"/>` +
        `<text class="faint" x="${LEFT - 8}" y="${y.of(value) + 4}" text-anchor="end">${figure(value)}</text>`,
    ),
    ...x.decades.map(
      (value) =>
        `<path class="grid" d="M${x.of(value)} ${TOP}v${FIELD.height}"/>` +
        `<text class="faint" x="${x.of(value)}" y="${TOP + FIELD.height + 18}" text-anchor="middle">${figure(value)}</text>`,
    ),
    `<text class="faint" x="${LEFT + FIELD.width / 2}" y="${TOP + FIELD.height + 36}" text-anchor="middle">${escape(axis)}</text>`,
    `<text class="faint" transform="translate(14 ${TOP + FIELD.height / 2}) rotate(-90)" text-anchor="middle">${escape(unit)}</text>`,
    ...lines.map((line) => drawLine(line, names.indexOf(line.name), x.of, y.of)),
    ...lines.map((line, index) => drawLegend(line, names.indexOf(line.name), index)),
  ].join('\n');
}

function drawLine(
  { who, points }: PlotLine,
  shape: number,
  x: (size: number) => number,
  y: (cost: number) => number,
): string {
  const coordinates = points.filter(({ cost }) => cost > 0).map(({ size, cost }) => [x(size), y(cost)] as const);
  const path = coordinates.map((point) => point.join(' ')).join('L');
  const marks = coordinates.map((point) => drawMark(who, shape, ...point));
  return [`<path class="line ${who}" d="M${path}"/>`, ...marks].join('\n');
}

/** Two columns, ours on the left. */
function drawLegend({ name, who }: PlotLine, shape: number, index: number): string {
  const [column, row] = [index % 2, Math.floor(index / 2)];
  const [left, line] = [LEFT + column * (FIELD.width / 2 + 10), 36 + row * LEGEND_STEP];
  return [
    `<path class="line ${who}" d="M${left} ${line - 4}h28"/>`,
    drawMark(who, shape, left + 14, line - 4),
    `<text x="${left + 36}" y="${line}">${escape(`${name}, ${who === 'ours' ? 'ours' : 'Strata'}`)}</text>`,
  ].join('\n');
}

function drawMark(who: PlotLine['who'], shape: number, x: number, y: number): string {
  const kind = SHAPES[shape % SHAPES.length];
  if (kind === 'circle') return `<circle class="${who}" cx="${x}" cy="${y}" r="4"/>`;
  if (kind === 'square') return `<rect class="${who}" x="${x - 4}" y="${y - 4}" width="8" height="8"/>`;
  return `<path class="${who}" d="M${x} ${y - 5}l5 9h-10z"/>`;
}

export interface Scale {
  /** Powers of ten that enclose all values. */
  readonly decades: readonly number[];
  /** The decades, and when there are few of them also 2 and 5 times each. */
  readonly ticks: readonly number[];
  readonly of: (value: number) => number;
}

const FEW_DECADES = 2;

/** A logarithmic scale. */
export function scale(values: readonly number[], from: number, to: number): Scale {
  const first = Math.floor(Math.log10(Math.min(...values)) + 1e-9);
  const last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(...values)) - 1e-9));
  const decades = Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index));
  const between = decades.slice(0, -1).flatMap((power) => [2 * power, 5 * power]);
  return {
    decades,
    ticks: last - first > FEW_DECADES ? decades : [...decades, ...between],
    of: (value) => round(from + ((Math.log10(value) - first) / (last - first)) * (to - from)),
  };
}

/** `0.01`, `1`, `100`, `10 k`, `1 M`. */
export function figure(value: number): string {
  if (value >= 1e6) return `${value / 1e6} M`;
  return value >= 1e4 ? `${value / 1e3} k` : String(Number(value.toPrecision(6)));
}

const round = (value: number): number => Math.round(value * 10) / 10;

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
