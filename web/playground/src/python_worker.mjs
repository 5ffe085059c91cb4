// The worker of Python (Pyodide): it runs the course's own modules on a kernel's text and on the result of a launch.
import { bytes, json, unpackFetches } from './packed.mjs';
import { startPython } from './python.mjs';
import { loadParser } from './tree.mjs';

const progress = count => postMessage({ bytes: count });
unpackFetches(['pyodide.asm.wasm'], progress);

async function ready() {
  const here = name => new URL(name, import.meta.url);
  const modules = json(here('python.json'), progress), files = json(here('course.json'));
  const parser = bytes(here('objects/tree.wasm'), progress).then(loadParser);
  const { loadPyodide } = await import('./pyodide/pyodide.mjs');
  return startPython(loadPyodide({ indexURL: String(here('pyodide/')), fullStdLib: false }), modules, files, parser);
}
const starting = ready();

onmessage = async ({ data: { number, do: name, given } }) => {
  try {
    const call = await starting;
    postMessage({ number, found: name === 'load' ? null : call(name, given) });
  } catch (error) {
    postMessage({ number, failed: String(error?.message ?? error) });
  }
};
