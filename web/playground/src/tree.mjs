// The parser of C++ for the page's Python, which knows it as the module `gn_parser` (gn_tutorial/cpp/page_tree.py).

const COLUMNS = 7;  // of a Row of tree.c
const BAD_FILE = 8;  // WASI's answer to the messages that tree-sitter would print

// `module`: the bytes of tree.wasm.
export async function loadParser(module) {
  const files = Object.fromEntries(['fd_close', 'fd_seek', 'fd_write'].map(name => [name, () => BAD_FILE]));
  const { exports } = (await WebAssembly.instantiate(module, { wasi_snapshot_preview1: files })).instance;
  exports._initialize();
  const names = (count, name) => Array.from({ length: count }, (_, id) => textAt(exports.memory, name(id)));
  return {
    kinds: names(exports.Kinds(), exports.Kind),
    fields: names(exports.Fields(), exports.Field),
    // The rows of a text's tree, for its bytes in UTF-8.
    parse(text) {
      const at = exports.malloc(text.length);
      new Uint8Array(exports.memory.buffer, at, text.length).set(text);
      const count = exports.Parse(at, text.length);
      exports.free(at);
      return new Int32Array(exports.memory.buffer, exports.Rows(), COLUMNS * count).slice();
    },
  };
}

function textAt(memory, at) {
  const bytes = new Uint8Array(memory.buffer, at);
  return at ? new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0))) : '';
}
