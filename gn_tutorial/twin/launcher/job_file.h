// The layout of a job file, in which Python passes one launch to the launcher and the launcher returns its outcome.
//
// The file is shared memory without a name (Python unlinks it before the launcher starts), given as standard input. It
// holds, in this order: JobFile, its JobFileArgs, texts, the report, then every tensor on pages of its own. Fields
// named ..._at are byte offsets from the start of the file, because the two sides map the file at different addresses.
// A large tensor that the kernel writes has memory of its own, which is mapped instead of its place in the file. So
// Python can keep that memory, and use the file for the next launch. gn_tutorial/abi/job_structs.py mirrors the
// structs; tests/abi/test_abi.py compares both.
//
// The launcher maps what comes before the tensors as one piece, and each tensor's pages far from anything else
// (gn_twin/base/far_addresses.h). What an earlier launch left in other pages is out of the kernel's reach.
#pragma once
#include <stdint.h>

#include "gn_twin/base/abi.h"

#define GNT_JOB_MAGIC 0x4a544e47u  // "GNTJ"

// The last step that the launcher reached. If the process ends in JOB_RUNNING, the kernel ended it.
enum JobPhase : uint32_t { JOB_STARTING = 0, JOB_LOADING = 1, JOB_RUNNING = 2, JOB_FINISHED = 3 };

// The reason why the launcher stopped. JOB_UNKNOWN stays if the process ends without running the launcher's code:
// exit(), SIGKILL.
enum JobOutcome : uint32_t {
  JOB_UNKNOWN = 0,
  JOB_RETURNED = 1,        // gnt_run returned; `status` is its value
  JOB_SIGNAL = 2,          // `signal` was caught; `stack_overflow` and `fault_address` say more
  JOB_NOT_LOADED = 3,      // dlopen failed or a function is missing; `text` says why
  JOB_WRONG_ABI = 4,       // the library was built against another abi.h
  JOB_FORBIDDEN_CALL = 5,  // `text` is the name of the system call
};

struct JobFileArg {
  uint64_t name_at;  // 0: no name
  uint64_t data_at;  // 0: a null pointer
  uint64_t bytes;
  uint64_t pages_at;  // the tensor's own pages. 0: a value, or memory of an earlier argument
  uint64_t pages_bytes;
  uint64_t same_as;  // 1 plus the number of the earlier argument whose memory this is; 0: none
  GntKind kind;
  GntRole role;
  uint64_t address;  // the tensor's address in traces
  uint64_t poison;
  uint64_t element_bytes;
  uint64_t descriptor;  // file descriptor of the memory behind these pages; 0: they are part of the file
  // Written by the launcher: the address of the pages, and the number of addresses before and behind them that belong
  // to this tensor.
  uint64_t pages_address;
  uint64_t around;
};

struct JobFile {
  // Written by Python.
  uint32_t magic;
  uint32_t header_bytes;  // sizeof(JobFile): a launcher of another version refuses the file
  uint32_t blocks;
  uint32_t arg_count;
  uint64_t tiling_key;
  uint64_t library_at;
  uint64_t entry_at;
  uint64_t args_at;
  uint64_t report_at;
  uint64_t report_bytes;
  uint64_t memory_bytes;  // address space that the kernel may add to the launcher's own mappings
  uint32_t cpu_seconds;   // of all threads together
  uint32_t wall_seconds;  // used only if Python died: Python stops the kernel earlier
  uint64_t head_bytes;    // of the file, before the tensors' pages: whole pages
  uint64_t folder_at;     // path of the only folder in which files may be written; 0: none
  GntOptions options;
  uint64_t trace_at;  // 0: no trace
  uint64_t trace_bytes;
  uint64_t chosen_at;
  uint64_t chosen_count;
  uint64_t watches_at;
  uint64_t watch_count;
  uint64_t with_origins;
  uint64_t severities_at;
  // Written by the launcher.
  volatile uint32_t phase;
  volatile uint32_t outcome;
  int32_t status;
  int32_t signal;
  uint32_t stack_overflow;
  uint32_t filtered;  // 1: forbidden system calls are trapped
  uint32_t observed;
  uint32_t here_line;
  uint32_t here_block;
  int32_t signal_code;  // si_code
  uint64_t fault_address;
  uint64_t nanoseconds;
  GntTally tally;
  GntTrace trace;        // its pointers are meaningless in Python
  char here_file[1024];  // NUL-terminated; empty when unknown
  char text[1024];
};
