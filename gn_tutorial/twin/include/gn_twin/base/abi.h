// The only C interface between a compiled kernel library and its caller (the native launcher or ctypes).
//
// A kernel library exports, with C linkage and default visibility:
//   int32_t     gnt_run(const char* entry, GntJob* job)   runs every block of one launch; returns a GntStatus
//   const char* gnt_entries(void)                          kernel names in the library, separated by '\n'
//   uint32_t    gnt_abi(void)                              GNT_ABI_VERSION << 16 | sizeof(GntJob): a mismatch is refused
// gn_tutorial/abi/structs.py mirrors these structs field by field; tests/abi/test_abi.py compares the two.
#pragma once
#include <stdint.h>

#define GNT_ABI_VERSION 9
// The vector cores of the default chip (gn_tutorial/machines).
#define GNT_DEFAULT_CORES 48

enum GntKind : uint32_t { GNT_TENSOR = 0, GNT_VALUE = 1 };
enum GntRole : uint32_t { GNT_IN = 0, GNT_OUT = 1, GNT_INOUT = 2, GNT_WORKSPACE = 3, GNT_TILING = 4, GNT_LIST = 5 };
// How a call of gnt_run ended. OK: every block ran to its end, without an error. STOPPED: the launch failed with a
// diagnostic. BAD_CALL: the entry, an argument or an option does not fit the library. `report` describes the last two.
enum GntStatus : int32_t { GNT_OK = 0, GNT_STOPPED = 1, GNT_BAD_CALL = 2 };

// One kernel parameter, in the order of the kernel's signature. For GNT_TENSOR `data` points to global memory of
// `bytes` bytes; for GNT_VALUE (scalars, structs by value) `data` holds the value's bytes. `name` may be null. GNT_LIST
// is a list of tensors (ListTensorDesc). The kernel only reads the list. Its tensors are arguments too, after those of
// the signature. In the job file, the list has the index of such an argument in place of each address.
struct GntArg {
  const char* name;
  uint8_t* data;
  uint64_t bytes;
  GntKind kind;
  GntRole role;
  uint64_t address;        // tensor: its address in traces, chosen by the caller, not by the host's allocator
  uint64_t poison;         // tensor: the 8-byte pattern that fills its memory before it is written
  uint64_t element_bytes;  // tensor: bytes of one element; 0: plain memory, not an array; its size is exact
};

// Choices between behaviours that public texts on the hardware leave open, and options of the checks.
// docs/hardware-choices.md has a row for each field. Zero is the default of every field.
struct GntOptions {
  uint32_t half_overflow;     // 0 IEEE infinity and NaN, 1 saturate (CTRL[48] = 0)
  uint32_t integer_overflow;  // 0 wrap around, 1 saturate (Add, Sub, Mul on int16 and int32)
  uint32_t minmax_nan;        // 0 a NaN operand gives NaN, 1 the other operand wins (IEEE minNum)
  uint32_t half_tree;         // 0 each step of a half reduction rounds to half, 1 all steps are in float, rounded once
  uint32_t reduce_lanes;      // 0 adjacent pairs, 1 lower half plus upper half
  uint32_t axpy_fused;        // 0 product and sum rounded separately, 1 fused
  uint32_t pad_dummy;  // DataCopyPad, isPad=false: 0 dummy lanes copy the block's first element, 1 they are poisoned
  uint32_t
      empty_deque;  // DeQue on an empty queue: 0 stops with a diagnostic, 1 returns the stale slot as the device does
  uint32_t compare_nan;      // NE with a NaN operand: 0 true, as IEEE 754, 1 false like every other comparison
  uint32_t compare_tail;     // Compare and Compares of a count: 0 whole repeats, 1 all elements (Ascend310B)
  uint32_t denormals;        // 0 subnormal results are kept, 1 flushed to zero
  uint32_t sigmoid_half;     // Sigmoid of half: 0 float inside and one rounding, 1 each of its steps rounds to half
  uint32_t counter_compare;  // Compare and Brcb in counter mode: 0 repeatTime decides, 1 the counter does
  uint32_t repeat_order;     // several repeats or blocks into one destination: 0 ascending, 1 descending
  uint32_t pair_unit;    // PairReduceSum, partial mask, unit of dstRepStride: 0 128 bytes, 1 the results of one repeat
  uint32_t event_ids;    // a queue or AllocEventID finds no free event id: 0 stops with a diagnostic, 1 uses no flag
  uint32_t approximate;  // Rsqrt, Reciprocal: 0 correctly rounded, 1 with the error that the documentation warns of
  uint32_t auto_sync;    // the compiler's automatic flags, for the race checker and delayed copies: 0 on, 1 off
  uint32_t races;        // 0 reported, 1 ignored
  uint32_t delayed_dma;  // when copies between GM and the Unified Buffer take effect: 0 at once, 1 when waited for
  uint32_t block_order;  // order of blocks at the start and after a barrier: 0 ascending, else a permutation's seed
  uint32_t threads;      // number of threads of a bare launch; 0: one for each processor that the process may use
  uint32_t cores;        // the chip's vector cores, so many blocks run at once; 0: GNT_DEFAULT_CORES
};

// Counts of a launch, summed over its blocks. Observed libraries fill them in; in bare ones they are zero. Instructions
// are counted by pipe in the order S, V, MTE2, MTE3; bytes are those moved between global memory and the Unified
// Buffer.
struct GntTally {
  uint64_t instructions[4];
  uint64_t bytes_in;
  uint64_t bytes_out;
  uint64_t ub_high_water;  // bytes of Unified Buffer handed out by InitBuffer, largest over the blocks
};

// A request for one value: bytes of an operand, read before the instruction that emitted the event computes.
struct GntWatch {
  uint32_t block;    // in: the block, one of the chosen ones
  uint32_t event;    // in: number of the event, in the order in which the block's events were recorded
  uint32_t operand;  // in: number of the operand; ~0: the last access of a run of scalar accesses
  uint32_t seen;     // out: bytes of `value` that were read; 0: no such event, or the operand is shorter
  uint64_t offset;   // in: bytes from the start of the operand; for scalar accesses the model's address
  uint64_t value;    // out
};

// A trace: the events of the blocks in `chosen`, as slots of 64 bytes (gn_twin/trace/slots.h), and counts over all
// blocks. A line is 512 bytes of global memory, which the L2 cache holds or drops together.
struct GntTrace {
  uint8_t* slots;          // in: where to write; null: no trace
  uint64_t bytes;          // in: bytes of memory there
  const uint32_t* chosen;  // in: blocks to record, ascending
  uint32_t chosen_count;   // in
  uint32_t full;           // out: 1 if the memory was full: later events were not recorded
  uint64_t used;           // out: bytes written
  // Out: counts of lines over every block of the launch, exact even if few blocks were recorded.
  uint64_t lines_read;       // reads into the Unified Buffer or by the scalar unit
  uint64_t lines_cold;       // of lines_read: through the L2 cache, and never touched before in this launch
  uint64_t lines_bypassed;   // of lines_read: past the L2 cache (a cache hint)
  uint64_t lines_written;    // writes
  uint64_t lines_dirty;      // different lines that were written
  uint64_t lines_held;       // different lines that were read through the L2 cache or written
  uint64_t blocks_bypassed;  // reads of 32-byte blocks past the L2 cache
  GntWatch* watches;         // in and out, ordered by block and event; null: none
  uint64_t watch_count;      // in
  uint64_t with_origins;     // in: 1: also record the pieces of operands, and which tensors operands are of
};

struct GntJob {
  uint32_t abi_version;   // in: GNT_ABI_VERSION
  uint32_t blocks;        // in: number of blocks (the first value inside <<<...>>>)
  uint64_t tiling_key;    // in: the number that TILING_KEY_IS compares with
  const GntArg* args;     // in
  uint32_t arg_count;     // in
  uint32_t observed;      // out: 1 if the library was built in observed mode
  GntOptions options;     // in
  GntTally tally;         // out
  char* report;           // out: NUL-terminated JSON lines, one diagnostic each (docs/architecture.md); may be null
  uint64_t report_bytes;  // in: capacity of `report`
  uint64_t nanoseconds;   // out: wall time of all blocks, without argument checks and poisoning
  // The current place of the launch, which observed libraries keep up to date, so that a crash or a time-out can report
  // it. A signal handler may read it, because here_file points into the library's read-only data.
  const char* volatile here_file;
  volatile uint32_t here_line;
  volatile uint32_t here_block;
  volatile uint64_t here_stack;  // the lowest address of the stack that the block runs on; 0 between blocks
  GntTrace trace;
  // in: findings whose severity the launch changes. Each is 'w' (warning) or 'e' (error), then its id, then a newline;
  // null: none.
  const char* severities;
  // in: 1: fill outputs and workspaces with their poison before the kernel runs; 0: leave the caller's contents.
  uint32_t poisons;
};
