// Compiles what every kernel needs once: node src/make_objects.mjs <files.json> <folder>.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { runLLVM } from '@yowasp/clang';

import { Compiler } from './compiler.mjs';
import { folders } from './data.mjs';

const [files, folder] = process.argv.slice(2);
const compiler = new Compiler(runLLVM, folders(JSON.parse(readFileSync(files, 'utf8'))));
await compiler.load();
for (const [name, bytes] of Object.entries(await compiler.makeObjects())) writeFileSync(join(folder, name), bytes);
