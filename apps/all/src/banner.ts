import type { System } from './system.js';

/** What a person needs to know once the system is up. */
export function banner({ url, natsUrl, natsVersion, token, model }: System): string {
  return `
Longrein is up.

  gateway   ${url}   (WebSocket: ${url.replace(/^http/, 'ws')}/agents/<id>/ws)
  NATS      ${natsUrl}   (server ${natsVersion})
  token     ${token}
  model     ${model.description}

Say something, in another terminal:

  export LONGREIN_URL=${url} LONGREIN_TOKEN=${token}
  npm run longrein -- session inject hello "Hello there" --wake
  npm run longrein -- session tail hello

Ctrl-C stops everything.
`;
}
