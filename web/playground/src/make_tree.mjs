// Compiles tree-sitter and its CUDA grammar for the page's Python: node src/make_tree.mjs <files.json> <tree.wasm>.
//
// The file has path -> text: tree.c, what is in tree-sitter's `lib` below core, and the grammar's `src` below grammar.
import { readFileSync, writeFileSync } from 'node:fs';

import { runLLVM } from '@yowasp/clang';

import { Compiler } from './compiler.mjs';
import { folders } from './data.mjs';

const SOURCES = ['core/src/lib.c', 'grammar/parser.c', 'grammar/scanner.c', 'tree.c'];
const OPTIONS = ['-x', 'c', '-std=c11', '-O2', '-w', '-D_DEFAULT_SOURCE', '-I/course/core/include', '-I/course/core/src', '-I/course/grammar'];
const EXPORTS = ['Parse', 'Rows', 'Kinds', 'Kind', 'Fields', 'Field', 'malloc', 'free'];
const LINK = ['-mexec-model=reactor', '-Wl,--strip-all', '-Wl,-z,stack-size=1048576', ...EXPORTS.map(name => `-Wl,--export=${name}`)];

const [files, made] = process.argv.slice(2);
const compiler = new Compiler(runLLVM, folders(JSON.parse(readFileSync(files, 'utf8'))));
await compiler.load();
const objects = {};
for (const source of SOURCES)
  objects[`${source.replaceAll('/', '_')}.o`] = await compiler.printed([...OPTIONS, '-c', `/course/${source}`, '-o', '-'], {});
writeFileSync(made, await compiler.printed([...LINK, ...Object.keys(objects).map(name => `/course/${name}`), '-o', '-'], objects));
