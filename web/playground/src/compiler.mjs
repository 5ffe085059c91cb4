// The compiler as WebAssembly: it compiles a kernel's text to a module, or only preprocesses it, in node and in a page.
//
// Every run of clang has files of its own, and leaves none behind. Its file system knows no `..`: paths come resolved.

const COMMON = '-std=c++20 -fno-exceptions -ffp-contract=off -fno-strict-aliasing -fno-math-errno'.split(' ');
// -O0: launches take milliseconds, optimising seconds. The bits are the same at each level (tests/compiler/test_same_bits.py).
const KERNEL = ['-O0', '-ftrivial-auto-var-init=pattern', '-I/course/include', '-I/course', '-DGNT_OBSERVED=1'];
const SHOWN = '-fdiagnostics-color=never -fno-caret-diagnostics -fmessage-length=0 -ferror-limit=20 -w'.split(' ');
const LINK = [
  '-mexec-model=reactor', '-Wl,--export=__stack_pointer', '-Wl,--initial-memory=67108864', '-Wl,--max-memory=1073741824',
  '-Wl,-z,stack-size=1048576', '-Wl,--strip-all',
];
// What every kernel is linked with: compiled once.
const LINKED = ['-O1', '-I/course/include'];
const SHIM = '/course/shim.cpp';
const OBJECTS = ['entry.o', 'watchers.o'];

export class Compiler {
  // `llvm`: runLLVM of @yowasp/clang. `files`: what is below /course, a folder an object. `objects`: entry.o, watchers.o and twin.pch by
  // name, as `makeObjects` gives them.
  constructor(llvm, files, objects = {}) {
    Object.assign(this, { llvm, files, objects });
    this.commands = new Map();
  }

  // Fetches the compiler. `progress`: called with { doneLength, totalLength }, in bytes.
  load(progress = () => {}) {
    return this.llvm(null, {}, { fetchProgress: progress });
  }

  // What every kernel needs once: objects that are linked in, and the twin's headers precompiled.
  async makeObjects() {
    const made = {};
    for (const [name, source] of [['entry.o', '/course/page/entry.cpp'], ['watchers.o', '/course/watchers/watchers.cpp']])
      made[name] = (await this.run([...COMMON, ...LINKED, '-c', source, '-o', name], {}))[name];
    made['twin.pch'] = (await this.run([...COMMON, ...KERNEL, '-x', 'c++-header', '/course/page/twin.h', '-o', 'twin.pch'], {}))['twin.pch'];
    return made;
  }

  // `request`: { shim, defines, own: { path below /course: text } }. What `-E` prints, the twin's headers replaced by names.
  async preprocess(request) {
    const options = ['-E', '-w', '-std=c++20', ...request.defines, '-I/course/names', '-I/course', SHIM, '-o', '-'];
    try {
      return new TextDecoder().decode(await this.printed(options, this.ownFiles(request)));
    } catch (error) {
      if (error instanceof CompileFailed) return '';  // the compiler is about to say what is wrong
      throw error;
    }
  }

  // The module's bytes. Throws CompileFailed with the compiler's text.
  async compile(request) {
    const header = this.objects['twin.pch'] ? ['-include-pch', '/twin.pch'] : [];
    const kernel = await this.printed([...COMMON, ...KERNEL, ...SHOWN, ...request.defines, ...header, '-c', SHIM, '-o', '-'], this.ownFiles(request));
    const files = { 'kernel.o': kernel, ...Object.fromEntries(OBJECTS.map(name => [name, this.objects[name]])) };
    return (await this.run([...LINK, 'kernel.o', ...OBJECTS, '-o', 'kernel.wasm'], files, { alone: true }))['kernel.wasm'];
  }

  // What clang writes onto standard output. Into a file it writes a few bytes at a time, and for each the file is copied as a whole.
  async printed(options, own) {
    let made = new Uint8Array(65536), length = 0;
    const stdout = bytes => {
      if (!bytes) return;
      if (length + bytes.length > made.length) {
        const larger = new Uint8Array(2 * (length + bytes.length));
        larger.set(made);
        made = larger;
      }
      made.set(bytes, length);
      length += bytes.length;
    };
    await this.run(options, own, { stdout });
    return made.slice(0, length);
  }

  ownFiles(request) {
    return { ...request.own, 'shim.cpp': request.shim };
  }

  async run(options, own, { alone = false, stdout = () => {} } = {}) {
    const files = alone ? own : { course: withFiles(this.files, own), ...(this.objects['twin.pch'] ? { 'twin.pch': this.objects['twin.pch'] } : {}) };
    const pieces = [], decoder = new TextDecoder();
    const stderr = bytes => { if (bytes) pieces.push(decoder.decode(bytes, { stream: true })); };
    const streams = { stdout, stderr, decodeASCII: false };
    try {
      const key = options.join('\n');
      if (!this.commands.has(key)) {
        await this.llvm(['clang++', '-###', ...options], files, streams);
        this.commands.set(key, commandOf(pieces.join('')));
        pieces.length = 0;
      }
      return await this.llvm(this.commands.get(key), files, streams);
    } catch (error) {
      throw new CompileFailed(pieces.join('') || String(error));
    }
  }
}

// The one command that `clang++ -###` says it would run. Asked once for each list of options: it takes as long as a small compilation.
function commandOf(text) {
  const lines = text.split('\n').filter(line => line.startsWith(' "'));
  if (lines.length !== 1) throw new Error(text);
  return Array.from(lines[0].matchAll(/"((?:[^"\\]|\\.)*)"/g), found => found[1].replace(/\\(.)/g, '$1')).filter((word, i) => i > 0 || word !== '');
}

export class CompileFailed extends Error {}

// A tree with some files replaced, which shares the rest with `tree`.
function withFiles(tree, own) {
  const made = { ...tree };
  for (const [path, text] of Object.entries(own)) {
    const names = path.split('/');
    let folder = made;
    for (const name of names.slice(0, -1)) folder = folder[name] = { ...folder[name] };
    folder[names.at(-1)] = text;
  }
  return made;
}
