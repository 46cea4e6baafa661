/** A JSON Schema as providers take it: an object that says it describes one. */
export function objectSchema(schema: unknown): { type: 'object'; [keyword: string]: unknown } {
  const keywords = typeof schema === 'object' && schema !== null && !Array.isArray(schema) ? schema : {};
  return { properties: {}, ...keywords, type: 'object' };
}
