/** Whether a client accepts gzip (RFC 9110 section 12.5.3): by one of its names or `*`, with a weight above 0. */
export function acceptsGzip(acceptEncoding = ''): boolean {
  const weights = new Map(
    acceptEncoding.split(',').map((part) => {
      const [coding = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
      const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
      return [coding, Number(weight)];
    }),
  );
  return (weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0) > 0;
}
