// The worker that compiles. Messages: { number, do, request } -> { number, ... }; { bytes } while files come.
import { CompileFailed, Compiler } from './compiler.mjs';
import { folders } from './data.mjs';
import { bytes, json, unpackFetches } from './packed.mjs';

const progress = count => postMessage({ bytes: count });
unpackFetches(['llvm.core.wasm', 'llvm-resources.tar'], progress);

async function ready() {
  const here = name => new URL(name, import.meta.url);
  const names = ['entry.o', 'watchers.o', 'twin.pch'];
  const [files, ...made] = await Promise.all([json(here('course.json'), progress), ...names.map(name => bytes(here(`objects/${name}`), progress))]);
  const { runLLVM } = await import('./clang/bundle.js');  // it takes `fetch` as it is now
  const compiler = new Compiler(runLLVM, folders(files), Object.fromEntries(names.map((name, i) => [name, made[i]])));
  await compiler.load();
  return compiler;
}
const compiling = ready();

const answers = {
  load: async () => { await compiling; return {}; },
  preprocess: async request => ({ text: await (await compiling).preprocess(request) }),
  compile: async request => {
    try {
      return { module: await (await compiling).compile(request) };
    } catch (error) {
      if (error instanceof CompileFailed) return { error: error.message };
      throw error;
    }
  },
};
async function answer({ number, do: name, request }) {
  try {
    postMessage({ number, ...(await answers[name](request)) });
  } catch (error) {
    postMessage({ number, failed: String(error?.stack ?? error) });
  }
}
// One after the other: each run of the compiler has a memory of its own.
let before = Promise.resolve();
onmessage = ({ data }) => { before = before.then(() => answer(data)); };
