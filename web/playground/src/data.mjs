// Files and bytes as the page passes them on.

// { 'a/b.h': text } as folders: { a: { 'b.h': bytes } }.
export function folders(files) {
  const root = {}, encoder = new TextEncoder();
  for (const [path, text] of Object.entries(files)) {
    const names = path.split('/');
    let folder = root;
    for (const name of names.slice(0, -1)) folder = folder[name] ??= {};
    folder[names.at(-1)] = encoder.encode(text);
  }
  return root;
}

// Bytes in base64.
export function fromText(text) {
  return Uint8Array.from(atob(text), one => one.charCodeAt(0));
}
export function toText(bytes) {
  let text = '';
  for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return btoa(text);
}
