// The worker of Python (Pyodide): it runs the course's own modules on a kernel's text and on the result of a launch.
import { bytes, json, unpackFetches } from './packed.mjs';

const progress = count => postMessage({ bytes: count });
unpackFetches(['pyodide.asm.wasm'], progress);

async function ready() {
  const here = name => new URL(name, import.meta.url);
  const { loadPyodide } = await import('./pyodide/pyodide.mjs');
  const [python, modules, files] = await Promise.all([
    loadPyodide({ indexURL: String(here('pyodide/')), fullStdLib: false }), json(here('python.json'), progress), json(here('course.json'))]);
  write(python.FS, '/modules', modules);
  write(python.FS, '/course', files);
  // The package's own door imports NumPy: the page's modules are found without passing it.
  const page = python.runPython(`
import sys, types
sys.path.insert(0, "/modules")
package = types.ModuleType("gn_tutorial")
package.__path__ = ["/modules/gn_tutorial"]
sys.modules["gn_tutorial"] = package
from gn_tutorial.course.playground.in_page import PageSession
PageSession()`);
  const passed = one => (typeof one === 'object' ? python.toPy(one) : one);
  return (name, given) => JSON.parse(page[name](...given.map(passed)));
}
function write(fs, root, files) {
  for (const [path, text] of Object.entries(files)) {
    const at = `${root}/${path}`;
    fs.mkdirTree(at.slice(0, at.lastIndexOf('/')));
    fs.writeFile(at, text);
  }
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
