/** An official archive and the digest its release published. */
export interface ArchivePin {
  readonly version: string;
  /** Lower-case hex SHA-256 by the platform's name in the release. */
  readonly sha256: Readonly<Record<string, string>>;
}

/**
 * The release that is downloaded where nothing else helps. Its digests are those of the release's SHA256SUMS and of the
 * official container image's recipe. Version and digests change together.
 */
export const ARCHIVE: ArchivePin = {
  version: '2.15.0',
  sha256: {
    'linux-amd64': '5d2c51caca950333aba84911df7d377f826f3a59ec36061c6539105084f65c92',
    'linux-arm64': 'cdc208f5a3f42963a52b6ab06ef65626bb870315dc936e26ba571780c6351112',
    'linux-s390x': 'ac50bf4adc8fa6db575ed9293417b6fbec746e71cc9d360aea5cd447e4207bfc',
    'linux-ppc64le': 'a402bf73f91f674735cc85aa0e7d06d5dfa3044b98cda6ea9937cfee4e05a266',
    'linux-loong64': 'fdce4b595b4b3a9f83d07ee310334b68a0723c799e969c9ab77f3105158fd64e',
    'darwin-amd64': '5bd8b59ca5bf93fab3da2c5843cf564cd6e2e291e22ae3b861746e7ebe259b95',
    'darwin-arm64': 'e1c4e22d70bd44abfa0bcb3c16f7cf0c66f648c2e728c58924e8a1ce88913cc8',
  },
};

/** Where releases are published. */
export const RELEASES = 'https://github.com/nats-io/nats-server/releases/download';

/** The release's name for a platform, from Node's names for it. */
export function platformName(platform: string, arch: string): string {
  const names: Readonly<Record<string, string>> = { x64: 'amd64', ppc64: 'ppc64le' };
  return `${platform}-${names[arch] ?? arch}`;
}
