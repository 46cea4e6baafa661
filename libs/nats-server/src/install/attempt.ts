/** What one way of installing came to: the binary's path, or why it gave none. */
export type Attempt = { readonly path: string } | { readonly reason: string };
