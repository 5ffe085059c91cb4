// Runs one launch of a compiled kernel: the little of WASI that the twin asks for, and its fibers. In node and in a page.
//
// A kernel that its author got wrong cannot harm more than its own instance: it has no other import than these.

// Promise integration: without it a kernel whose blocks wait for one another cannot run.
export const CAN_SUSPEND = typeof WebAssembly.Suspending === 'function' && typeof WebAssembly.promising === 'function';
const REPORT_BYTES = 64 * 1024;
const LIST = 5;  // GntRole
const TENSOR = 0;  // GntKind
// The most memory that a kernel has (compiler.mjs), and the most addresses on each side of an array that belong to it alone.
const MOST_MEMORY = 1 << 30, MOST_AROUND = 32 << 20;
const WASI_NOT_SUPPORTED = 52, WASI_BAD_FILE = 8;

// The launch is over, and the twin's report says why.
class Stopped extends Error {}
// The launch is over for a reason of this place.
class Ended extends Error {}

// `job`: as gn_tutorial/course/playground/starts.py makes it, arrays as Uint8Array, and `source`, what compiling.py found in the kernel's text. `printed`: called with each piece of text the kernel prints.
export async function run(module, job, printed = () => {}) {
  const kernel = new Instance(printed);
  await kernel.start(module);
  return kernel.launch(job);
}

class Instance {
  constructor(printed) {
    this.printed = printed;
    this.fibers = new Map();
  }

  async start(module) {
    const { exports } = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: this.wasi(), gnt: this.host() });
    this.exports = exports;
    this.memory = exports.memory;
    exports._initialize?.();
    this.body = CAN_SUSPEND ? WebAssembly.promising(exports.gnt_fiber_body) : null;
  }

  // --- what the module imports ---

  wasi() {
    const decoder = new TextDecoder();
    const zeros = (...at) => { for (const one of at) this.view().setUint32(one, 0, true); return 0; };
    const known = {
      clock_time_get: (_clock, _precision, at) => {
        this.view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
        return 0;
      },
      fd_write: (_file, parts, count, written) => {
        let bytes = 0;
        for (let i = 0; i < count; ++i) {
          const at = this.view().getUint32(parts + 8 * i, true), length = this.view().getUint32(parts + 8 * i + 4, true);
          this.printed(decoder.decode(this.bytes(at, length).slice(), { stream: true }));
          bytes += length;
        }
        this.view().setUint32(written, bytes, true);
        return 0;
      },
      proc_exit: code => { throw new Ended(`the kernel ended its process (${code})`); },
      environ_sizes_get: zeros,
      args_sizes_get: zeros,
      environ_get: () => 0,
      args_get: () => 0,
      sched_yield: () => 0,
      fd_prestat_get: () => WASI_BAD_FILE,
    };
    return new Proxy(known, { get: (functions, name) => functions[name] ?? (() => WASI_NOT_SUPPORTED) });
  }

  host() {
    const plain = {
      stop: () => { throw new Stopped(); },
      no_memory: () => { throw new Ended('there is no more memory for the kernel'); },
    };
    if (!CAN_SUSPEND) {
      return { ...plain, fiber_enter: fiber => this.exports.gnt_fiber_body(fiber), fiber_leave: () => { throw new Ended('cannot suspend'); } };
    }
    return { ...plain, fiber_enter: new WebAssembly.Suspending((...of) => this.enter(...of)), fiber_leave: new WebAssembly.Suspending(fiber => this.leave(fiber)) };
  }

  // What is addressed on a stack lies in memory, below a pointer that each fiber has for itself.
  enter(fiber, stack) {
    return new Promise((resolve, reject) => {
      const pointer = this.exports.__stack_pointer, outside = pointer.value;
      const back = () => { pointer.value = outside; resolve(); };
      const known = this.fibers.get(fiber);
      if (known) {
        Object.assign(known, { back, reject });
        pointer.value = known.pointer;
        known.resume();
        return;
      }
      const state = { back, reject, resume: null, pointer: 0 };
      this.fibers.set(fiber, state);
      pointer.value = stack;
      this.body(fiber).then(() => { this.fibers.delete(fiber); state.back(); }, error => state.reject(error));
    });
  }
  leave(fiber) {
    const state = this.fibers.get(fiber);
    state.pointer = this.exports.__stack_pointer.value;
    return new Promise(resolve => { state.resume = resolve; state.back(); });
  }

  // --- one launch ---

  view() { return new DataView(this.memory.buffer); }
  bytes(at, length) { return new Uint8Array(this.memory.buffer, at, length); }
  alloc(bytes, around = 0) {
    const at = this.exports.page_alloc(bytes, around);
    if (at === 0) throw new Ended(`there is no memory for ${bytes} bytes`);
    return at;
  }
  text(words) {
    const encoded = new TextEncoder().encode(words + '\0'), at = this.alloc(encoded.length);
    this.bytes(at, encoded.length).set(encoded);
    return at;
  }
  textAt(at) {
    const all = new Uint8Array(this.memory.buffer);
    let end = at;
    while (all[end] !== 0) ++end;
    return new TextDecoder().decode(all.slice(at, end));
  }
  words(at, count) {
    return Array.from({ length: count }, (_, i) => Number(this.view().getBigUint64(at + 8 * i, true)));
  }

  // How many bytes to leave unused around each array, so that an address shows from which array a pointer came (kReach of
  // gn_twin/core/core.h). What is never written takes addresses and no memory; the kernel keeps half of the free addresses.
  around(job) {
    const arrays = job.args.filter(arg => arg.kind === TENSOR && !arg.same_as && !arg.absent);
    const taken = arrays.reduce((sum, arg) => sum + arg.bytes, this.memory.buffer.byteLength + (job.trace?.bytes ?? 0));
    const each = Math.floor((MOST_MEMORY - taken) / 4 / Math.max(arrays.length, 1) / 512) * 512;
    return Math.max(0, Math.min(each, MOST_AROUND));
  }

  async launch(job) {
    const { exports } = this, places = {}, around = this.around(job);
    let report = 0, slots = 0, status = 1, ended = null;
    try {
      job.args.forEach((arg, i) => {
        const at = arg.same_as ? places[arg.same_as] : arg.absent ? 0 : this.alloc(arg.bytes, arg.kind === TENSOR ? around : 0);
        places[arg.name] = at;
        if (arg.data && at && !arg.same_as) this.bytes(at, arg.bytes).set(arg.data);
        exports.page_argument(i, this.text(arg.name), at, arg.bytes, arg.kind, arg.role, BigInt(arg.address), BigInt(arg.poison), arg.element_bytes);
      });
      this.link(job, places);
      job.options.forEach((value, i) => this.view().setUint32(exports.page_options() + 4 * i, value, true));
      if (job.trace) {
        slots = this.alloc(job.trace.bytes);
        const chosen = this.alloc(4 * job.trace.chosen.length);
        job.trace.chosen.forEach((block, i) => this.view().setUint32(chosen + 4 * i, block, true));
        exports.page_trace(slots, job.trace.bytes, chosen, job.trace.chosen.length);
      }
      this.source(job.source);
      report = this.alloc(REPORT_BYTES);
      const severities = job.severities ? this.text(job.severities) : 0, entry = this.text(job.entry);
      const start = CAN_SUSPEND ? WebAssembly.promising(exports.page_run) : exports.page_run;
      status = await start(entry, job.args.length, job.blocks, BigInt(job.tiling_key), severities, report, REPORT_BYTES);
    } catch (error) {
      if (!(error instanceof Stopped)) ended = this.why(error);
    }
    return {
      status,
      ended,
      needs_suspension: ended === 'cannot suspend',
      report: report ? this.textAt(report) : '',
      arrays: Object.fromEntries(job.args.filter(arg => arg.written).map(arg => [arg.name, places[arg.name] ? this.bytes(places[arg.name], arg.bytes).slice() : new Uint8Array()])),
      tally: this.words(exports.page_tally(), 7),
      trace: slots ? this.trace(slots) : null,
      here: ended ? { file: exports.page_here_file() ? this.textAt(exports.page_here_file()) : '', line: exports.page_here_line(), block: exports.page_here_block() } : null,
      memory: this.memory.buffer.byteLength,
    };
  }
  // What is wrong with the kernel's source (compiling.py).
  source(found) {
    const { exports } = this;
    if (found.length > 0) exports.page_source(found.length);
    for (const one of found) {
      exports.page_source_finding(this.text(one.entry), this.text(one.id), one.error, this.text(one.file), one.line);
      for (const [key, text] of one.fields) exports.page_source_field(this.text(key), this.text(text));
    }
  }
  // A list of tensors holds their numbers where the kernel finds their addresses (abi/tensor_list.py).
  link(job, places) {
    for (const arg of job.args.filter(one => one.role === LIST)) {
      const at = places[arg.name];
      for (let word = Number(this.view().getBigUint64(at, true)); word < arg.bytes; word += 8) {
        const tensor = job.args[Number(this.view().getBigUint64(at + word, true))];
        this.view().setBigUint64(at + word, BigInt(places[tensor.name]), true);
      }
    }
  }
  trace(slots) {
    const [used, ...lines] = this.words(this.exports.page_lines(), 8);
    return { slots: this.bytes(slots, used).slice(), full: this.exports.page_trace_full(), lines };
  }
  why(error) {
    if (error instanceof Ended) return error.message;
    return error instanceof WebAssembly.RuntimeError || error instanceof RangeError ? error.message : String(error?.stack ?? error);
  }
}
