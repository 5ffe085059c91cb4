// The course's own Python modules in Pyodide, for the page's worker and for tests in node.

// `needed`: Pyodide; path -> text below /modules, and below /course; the parser of tree.mjs. Each may be a promise. Returns a function that
// calls a method of PageSession (in_page.py): its name, and a list of values.
export async function startPython(...needed) {
  const [python, modules, files, parser] = await Promise.all(needed);
  write(python.FS, '/modules', modules);
  write(python.FS, '/course', files);
  python.FS.mkdirTree('/modules/gn_tutorial/twin');
  python.FS.symlink('/course/include', '/modules/gn_tutorial/twin/include');
  python.registerJsModule('gn_parser', parser);
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
