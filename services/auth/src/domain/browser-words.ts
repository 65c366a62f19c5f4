/** By their mark in a User-Agent. Several browsers carry the marks of those that follow them. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(HeadlessChrome|Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\b(iPhone|iPod)\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];
/** The name of another program before its version. */
const PROGRAM = /^[A-Za-z][\w.-]{0,39}/;

/** The browser or program of a User-Agent in short words, of a bounded length; null for none. What it says proves nothing. */
export function browserWords(userAgent: string | undefined): string | null {
  const text = (userAgent ?? '').slice(0, 500);
  const nameIn = (names: typeof BROWSERS): string | undefined => names.find(([mark]) => mark.test(text))?.[1];
  const [browser, system] = [nameIn(BROWSERS), nameIn(SYSTEMS)];
  if (browser === undefined) return PROGRAM.exec(text)?.[0] ?? null;
  return system === undefined ? browser : `${browser} on ${system}`;
}
