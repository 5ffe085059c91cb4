// The page: choices, Run, and the result. The texts about a kernel come from the course's Python (python_worker.mjs).
import { fromText } from './data.mjs';
import { Editor } from './editor.mjs';
import { pack, unpack } from './link.mjs';
import { json } from './packed.mjs';
import { showOutcome, showErrors, clear } from './result.mjs';
import { Asked, Stopped } from './worker_call.mjs';

const SECONDS = 10;  // of a kernel
const at = id => document.getElementById(id);
const here = name => new URL(name, import.meta.url);
const editor = new Editor(at('editor'), { run: () => at('run').click() });
const state = { index: null, start: null, compiler: null, python: null, kernel: null, built: null, bytes: 0 };

// --- choices ---

function fill(select, rows, chosen) {
  select.replaceChildren(...rows.map(([value, text]) => new Option(text, value)));
  if (chosen !== undefined && rows.some(([value]) => value === String(chosen))) select.value = chosen;
}
function showGroup(group, start) {
  at('group').value = group;
  fill(at('start'), state.index.starts.filter(one => one.group === group).map(one => [one.id, one.title]), start);
}
async function showStart(id, given = {}) {
  const known = state.index.starts.find(one => one.id === id) ?? state.index.starts[0];
  showGroup(known.group, known.id);
  state.start = await json(here(`starts/${known.file}`));
  editor.text = given.text ?? state.start.text;
  if (state.start.puzzle && !given.text) editor.show(state.start.puzzle.line);
  fill(at('case'), state.start.cases.map((one, i) => [String(i), one.label]), given.case);
  showCase(given.blocks);
  clear();
}
const chosenCase = () => state.start.cases[Number(at('case').value)];
function showCase(blocks) {
  fill(at('blocks'), chosenCase().launches.map((one, i) => [String(i), String(one.blocks)]), blocks ?? String(Math.min(1, chosenCase().launches.length - 1)));
}

// --- run ---

// What is asked for first: after it, the compiler and Python stay.
function workers() {
  const progress = bytes => {
    state.bytes += bytes;
    const { download } = state.index;
    Object.assign(at('progress'), { hidden: state.bytes >= download, max: download, value: state.bytes });
    say(`loading the compiler, once: ${(state.bytes / 1e6).toFixed(0)} of ${(download / 1e6).toFixed(0)} MB`);
  };
  state.compiler ??= new Asked('compile_worker.js', progress);
  state.python ??= new Asked('python_worker.js', progress);
}
const say = text => { at('status').textContent = text; };
const python = async (name, ...given) => (await state.python.ask({ do: name, given })).found;

async function run() {
  const text = editor.text, begun = performance.now();
  clear();
  editor.mark([]);
  workers();
  const compiled = await built(text);
  if (compiled.errors) return showErrors(compiled.errors, editor);
  const ready = performance.now();
  say('running');
  const chosen = chosenCase(), job = chosen.launches[Number(at('blocks').value)];
  const { answer, printed } = await launch(compiled.module, { ...withArrays(job, chosen.arrays), source: compiled.source });
  const ran = performance.now();
  const { arrays, trace, ...told } = answer;
  const passed = { ...arrays, ...Object.fromEntries(Object.entries(chosen.expected).map(([name, of]) => [`expected ${name}`, fromText(of.values)])) };
  const expected = Object.fromEntries(Object.entries(chosen.expected).map(([name, { values: _, ...of }]) => [name, of]));
  const slim = { ...job, args: job.args.map(({ data: _, ...arg }) => arg) };
  const given = { job: slim, answer: { ...told, trace: trace && { full: trace.full, lines: trace.lines } }, expected, machine: at('chip').value, beside: at('beside').checked, text, puzzle: state.start.puzzle ?? null };
  const shown = await python('outcome', JSON.stringify(given), passed, trace ? trace.slots : new Uint8Array());
  showOutcome(shown, printed, state.start, editor);
  const seconds = time => (time / 1000).toFixed(1);
  return `${seconds(performance.now() - begun)} s: compiled in ${seconds(ready - begun)}, ran in ${seconds(ran - ready)}`;
}

// { module, source }, or { errors }. The text that was compiled last is not compiled again: other sizes need no other module.
async function built(text) {
  const { path, puzzle = null } = state.start;
  if (state.built?.text === text && state.built.path === path) return state.built;
  const prepared = await python('preparing', path, text, []);
  if (prepared.errors) return prepared;
  say('compiling');
  const preprocessed = state.compiler.ask({ do: 'preprocess', request: prepared.preprocess });
  // Python reads the source while the compiler goes on.
  const [{ module, error }, source] = await Promise.all([
    state.compiler.ask({ do: 'compile', request: prepared.compile }), preprocessed.then(found => python('source_findings', found.text))]);
  if (error !== undefined) return { errors: await python('failure', error, JSON.stringify(puzzle)) };
  return (state.built = { text, path, module, source });
}

function withArrays(job, arrays) {
  return { ...job, args: job.args.map(arg => ({ ...arg, data: arg.data === null ? null : fromText(arg.data || arrays[arg.name] || '') })) };
}

// In a worker of its own, which ends with it.
function launch(bytes, job) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(here('kernel_worker.js'), { type: 'module' });
    let printed = '';
    const end = act => { clearTimeout(timer); worker.terminate(); state.kernel = null; act(); };
    const timer = setTimeout(() => end(() => reject(new Error(`the kernel ran longer than ${SECONDS} s and was stopped: look for a loop that never ends`))), SECONDS * 1000);
    state.kernel = { stop: () => end(() => reject(new Stopped())) };
    worker.onmessage = ({ data }) => {
      if (data.printed !== undefined) printed += data.printed;
      else end(() => (data.failed ? reject(new Error(data.failed)) : resolve({ answer: data.answer, printed })));
    };
    worker.onerror = event => end(() => reject(new Error(event.message)));
    worker.postMessage({ bytes, job });
  });
}

// The compiler cannot be interrupted, so its worker is ended; the next Run starts another from the fetched files.
function stop() {
  if (state.kernel) return state.kernel.stop();
  state.compiler?.end();
  state.python?.end();
  state.compiler = state.python = state.built = null;
}

// --- the page's life ---

async function press() {
  Object.assign(at('run'), { disabled: true });
  at('stop').disabled = false;
  try {
    say((await run()) ?? '');
  } catch (error) {
    if (error instanceof Stopped) say('stopped');
    else { say(''); showErrors([{ line: 0, message: error.message, hint: '' }], editor); }
  } finally {
    at('progress').hidden = true;
    at('run').disabled = false;
    at('stop').disabled = true;
  }
}

async function link() {
  const packed = await pack({ start: state.start.id, case: at('case').value, blocks: at('blocks').value, chip: at('chip').value, text: editor.text });
  history.replaceState(null, '', `#${packed}`);
  await navigator.clipboard?.writeText(location.href).catch(() => {});
  say('the address of this page now holds the text');
}

// `#start=queue/empty_bad`, or what `link` made.
async function begin() {
  if ('serviceWorker' in navigator) navigator.serviceWorker.register(here('offline.js')).catch(() => {});
  state.index = await json(here('starts.json'));
  fill(at('group'), [...new Set(state.index.starts.map(one => one.group))].map(one => [one, one]));
  fill(at('chip'), state.index.chips.map(one => [one, one]), state.index.chip);
  const hash = location.hash.slice(1);
  const given = hash.startsWith('start=') ? { start: decodeURIComponent(hash.slice(6)) } : hash ? await unpack(hash).catch(() => ({})) : {};
  await showStart(given.start, given);
  if (given.chip) at('chip').value = given.chip;
  at('group').onchange = () => showStart(state.index.starts.find(one => one.group === at('group').value).id);
  at('start').onchange = () => showStart(at('start').value);
  at('case').onchange = () => showCase();
  at('run').onclick = press;
  at('stop').onclick = stop;
  at('link').onclick = link;
  at('reset').onclick = () => showStart(state.start.id);
  document.documentElement.dataset.ready = 'yes';
}
begin();
