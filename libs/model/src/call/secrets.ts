/** Shortest value that is taken for a secret: shorter ones would blot out ordinary words. */
const MIN_LENGTH = 6;

/** Longest message of a provider that is passed on. */
const MAX_MESSAGE = 1000;

/** Makes a function that takes a provider's secrets out of a text and bounds it. */
export function redactor(secrets: readonly (string | undefined)[]): (text: string) => string {
  const hidden = secrets
    .filter((secret) => secret !== undefined)
    .filter((secret) => secret.length >= MIN_LENGTH)
    .sort((a, b) => b.length - a.length);
  return (text) => {
    const clean = hidden.reduce((rest, secret) => rest.replaceAll(secret, '***'), text).toWellFormed();
    return clean.length > MAX_MESSAGE ? `${clean.slice(0, MAX_MESSAGE).toWellFormed()}…` : clean;
  };
}
