export interface Line {
  readonly name: string;
  /** What grows. */
  readonly axis: string;
  readonly points: { readonly size: number; readonly cost: number }[];
}

const [WIDTH, HEIGHT, LEFT, TOP, PANEL] = [760, 420, 60, 30, 360];
const COLORS = ['#1f77b4', '#d62728', '#2ca02c', '#9467bd', '#ff7f0e'];

/**
 * One picture for all: each cost relative to its first, over the growth of what it is held against, both by powers of ten. The
 * dashed line is cost that grows as fast as its cause.
 */
export function plot(lines: readonly Line[]): string {
  const growths = lines.flatMap(({ points }) => points.map(({ size }) => size / (points[0]?.size ?? 1)));
  const decades = Math.max(1, Math.ceil(Math.log10(Math.max(...growths))));
  const x = (growth: number): number => LEFT + (Math.log10(growth) / decades) * PANEL;
  const y = (ratio: number): number => TOP + PANEL - ((Math.log10(Math.max(ratio, 0.1)) + 1) / (decades + 1)) * PANEL;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT + 20}" font-family="sans-serif" font-size="12">`,
    `<rect width="100%" height="100%" fill="white"/>`,
  ];
  for (let power = -1; power <= decades; power += 1) {
    const at = y(10 ** power);
    parts.push(`<path d="M${LEFT} ${at}H${LEFT + PANEL}" stroke="#ddd"/>`);
    parts.push(`<text x="${LEFT - 8}" y="${at + 4}" text-anchor="end">${10 ** power}x</text>`);
    if (power < 0) continue;
    parts.push(`<text x="${x(10 ** power)}" y="${TOP + PANEL + 18}" text-anchor="middle">${10 ** power}x</text>`);
  }
  parts.push(
    `<path d="M${x(1)} ${y(1)}L${x(10 ** decades)} ${y(10 ** decades)}" stroke="#999" stroke-dasharray="4 4" fill="none"/>`,
    `<text x="${LEFT + PANEL / 2}" y="${TOP + PANEL + 38}" text-anchor="middle">growth of the cause</text>`,
  );
  for (const [index, { name, axis, points }] of lines.entries()) {
    const color = COLORS[index % COLORS.length] ?? 'black';
    const [first] = points;
    if (first === undefined) continue;
    const path = points.map(({ size, cost }) => `${x(size / first.size)} ${y(cost / first.cost)}`).join('L');
    parts.push(`<path d="M${path}" stroke="${color}" stroke-width="2" fill="none"/>`);
    const line = TOP + 20 + index * 22;
    parts.push(`<rect x="${LEFT + PANEL + 24}" y="${line - 9}" width="12" height="12" fill="${color}"/>`);
    parts.push(`<text x="${LEFT + PANEL + 42}" y="${line + 2}">${name} over ${axis}</text>`);
  }
  return `${parts.join('\n')}\n</svg>\n`;
}
