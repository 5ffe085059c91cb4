// The page's compiler and runner on a command line, for tests: a request as one line of JSON, and one line for its answer.
//
// node src/serve.mjs <files.json> <modules.json> <folder of objects>; the files have path -> text below /course, and below /modules. Bytes
// are in base64.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { runLLVM } from '@yowasp/clang';
import { loadPyodide } from 'pyodide';

import { CompileFailed, Compiler } from './compiler.mjs';
import { CAN_SUSPEND, run } from './runner.mjs';
import { folders, fromText, toText } from './data.mjs';
import { startPython } from './python.mjs';
import { loadParser } from './tree.mjs';

const [course, python] = process.argv.slice(2, 4).map(name => JSON.parse(readFileSync(name, 'utf8'))), made = process.argv[4];
const objects = Object.fromEntries(readdirSync(made).map(name => [name, new Uint8Array(readFileSync(join(made, name)))]));
const compiler = new Compiler(runLLVM, folders(course), objects);
const parser = await loadParser(objects['tree.wasm']);
const modules = new Map();
let session;

const answers = {
  start: async () => {
    await compiler.load();
    return { suspends: CAN_SUSPEND };
  },
  preprocess: async ({ request }) => ({ text: await compiler.preprocess(request) }),
  compile: async ({ name, request }) => {
    try {
      modules.set(name, await WebAssembly.compile(await compiler.compile(request)));
      return { error: '' };
    } catch (error) {
      if (error instanceof CompileFailed) return { error: error.message };
      throw error;
    }
  },
  run: async ({ name, job }) => {
    let printed = '';
    for (const arg of job.args) if (arg.data !== null) arg.data = fromText(arg.data);
    const found = await run(modules.get(name), job, text => { printed += text; });
    for (const arg of Object.keys(found.arrays)) found.arrays[arg] = toText(found.arrays[arg]);
    if (found.trace) found.trace.slots = toText(found.trace.slots);
    return { ...found, printed };
  },
  python: async ({ name, given }) => {
    session ??= startPython(loadPyodide(), python, course, parser);
    return { found: (await session)(name, given) };
  },
  names: async () => ({ kinds: parser.kinds, fields: parser.fields }),
  tree: async ({ text }) => ({ rows: toText(new Uint8Array(parser.parse(fromText(text)).buffer)) }),
  forget: async ({ name }) => ({ known: modules.delete(name) }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  let answer;
  try {
    answer = await answers[request.do](request);
  } catch (error) {
    answer = { failed: String(error?.stack ?? error) };
  }
  process.stdout.write(JSON.stringify(answer) + '\n');
}
