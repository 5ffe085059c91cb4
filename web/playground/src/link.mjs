// A text in the address of the page: JSON, deflated, in the letters that addresses may have.
import { fromText, toText } from './data.mjs';

const through = async (bytes, stream) => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());

export async function pack(value) {
  const packed = await through(new TextEncoder().encode(JSON.stringify(value)), new CompressionStream('deflate-raw'));
  return toText(packed).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}
export async function unpack(text) {
  const packed = fromText(text.replaceAll('-', '+').replaceAll('_', '/'));
  return JSON.parse(new TextDecoder().decode(await through(packed, new DecompressionStream('deflate-raw'))));
}
