// Large files lie beside the page compressed (name.gz), since a plain file server does not compress: here they are unpacked on the way.

// `fetch` of a file that is packed. `progress`: called with the bytes that came, as they lie on the server.
export async function unpacked(url, progress = () => {}) {
  const response = await PLAIN(`${url}.gz`);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  const counted = new TransformStream({ transform(piece, out) { progress(piece.length); out.enqueue(piece); } });
  const body = response.body.pipeThrough(counted).pipeThrough(new DecompressionStream('gzip'));
  return new Response(body, { headers: { 'Content-Type': String(url).endsWith('.wasm') ? 'application/wasm' : 'application/octet-stream' } });
}
const PLAIN = globalThis.fetch.bind(globalThis);

// For libraries that fetch by themselves: from now on, files whose names end in one of these come unpacked.
export function unpackFetches(names, progress) {
  globalThis.fetch = (input, options) => {
    const url = String(input.url ?? input);
    return names.some(name => url.endsWith(name)) ? unpacked(url, progress) : PLAIN(input, options);
  };
}
export const json = async (url, progress) => (await unpacked(url, progress)).json();
export const bytes = async (url, progress) => new Uint8Array(await (await unpacked(url, progress)).arrayBuffer());
