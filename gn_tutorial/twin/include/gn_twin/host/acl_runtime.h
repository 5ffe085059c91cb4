// The host side of a whole sample: device memory with known sizes, streams that run in order, and launches, which run
// as those of a kernel library do (core/launch.h). The acl functions (acl/acl.h) and the CPU debugging functions
// (tikicpulib.h) only call this runtime.
//
// Everything runs immediately, in the order of the program, so a launch has ended when its statement ends. A result is
// therefore visible earlier than on a device. A blocking copy before aclrtSynchronizeStream is reported as a warning.
#pragma once
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gn_twin/base/far_addresses.h"
#include "gn_twin/core/launch.h"

namespace gn_twin::host {

enum class Where : uint8_t { Device, Host };

// The memory of one aclrtMalloc, aclrtMallocHost or GmAlloc. Its reserved bytes end less than 64 bytes before the end of
// its pages, which lie far from anything else.
struct Memory {
  uint8_t* data;
  uint64_t bytes;
  uint8_t* pages;
  uint64_t pages_bytes;
  Where where;
  std::string name;  // its name in diagnostics
  uint64_t stretch;  // of FarAddresses
};

// The state of one run of a sample. RunMain makes it; a process has one at a time, as there is one `main`.
class Runtime {
 public:
  explicit Runtime(GntJob& job) : job_(job) {}
  ~Runtime() {
    for (const Memory& one : memory_) FarAddresses::Unmap(one.pages, one.pages_bytes);
  }
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // Returns new memory, or null if there is none of that size. Its bytes are 0xff, a NaN in every float format, so that
  // a use of unwritten memory shows.
  void* Allocate(uint64_t bytes, Where where, const char* call, Loc loc) {
    const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    const uint64_t room = (Reserved(bytes) + kAlign - 1) / kAlign * kAlign;
    const uint64_t inside = (room + page - 1) / page * page;
    uint8_t* const pages = NewPages(inside);
    if (pages == nullptr) return nullptr;
    memset(pages, 0xff, inside);
    uint8_t* const data = pages + inside - room;
    memory_.push_back(
        {data, bytes, pages, inside, where, std::string(call) + " of line " + std::to_string(loc.line), stretch_});
    return data;
  }

  void Free(void* at, Where where, const char* call, Loc loc) {
    if (at == nullptr) return;
    for (size_t i = 0; i < memory_.size(); ++i) {
      if (memory_[i].data != at) continue;
      if (memory_[i].where != where) {
        Stop("host-wrong-free", loc, {{"op", call}, {"memory", memory_[i].name.c_str()}});
      }
      FarAddresses::Unmap(memory_[i].pages, memory_[i].pages_bytes);
      memory_.erase(memory_.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
    Stop("host-bad-free", loc, {{"op", call}});
  }

  // Returns the allocation that contains the address, or that ends there; null for memory that the sample allocated
  // without the runtime.
  const Memory* Find(const void* at) const {
    for (const Memory& one : memory_) {
      if (at >= one.data && at <= one.data + one.bytes) return &one;
    }
    return nullptr;
  }

  // Stops if the range is null, on the wrong side, or reaches past its allocation. `role` is the range's name in
  // diagnostics, such as "source". `device`: 1 if the operation needs device memory, 0 if it needs host memory, -1 if
  // it takes both.
  void CheckRange(const void* at, uint64_t bytes, const char* op, const char* role, int device, Loc loc) {
    const Memory* found = Find(at);
    if (at == nullptr) Stop("host-null", loc, {{"op", op}, {"role", role}});
    if (device >= 0 && (found != nullptr && found->where == Where::Device) != (device == 1)) {
      Stop("host-wrong-side", loc, {{"op", op}, {"role", role}, {"wanted", device == 1 ? "device" : "host"}});
    }
    if (found == nullptr) return;
    const uint64_t offset = static_cast<uint64_t>(static_cast<const uint8_t*>(at) - found->data);
    if (bytes > found->bytes - offset) {
      Stop("host-out-of-bounds", loc,
           {{"op", op},
            {"role", role},
            {"bytes", bytes},
            {"room", found->bytes - offset},
            {"memory", found->name.c_str()}});
    }
  }

  // Ends the sample with one diagnostic.
  [[noreturn]] void Stop(const char* id, Loc loc, std::initializer_list<Field> fields) {
    ReportWriter(job_).Write(id, "error", loc, 0, fields.begin(), static_cast<uint32_t>(fields.size()));
    StopBlock();
  }

  void* MakeStream() {
    streams_.push_back(new Stream);
    return streams_.back();
  }
  // Stops if there is no such stream. Null is the default stream, which always exists.
  void CheckStream(const void* stream, const char* op, Loc loc) {
    if (stream == nullptr) return;
    for (const Stream* one : streams_) {
      if (one == stream) return;
    }
    Stop("host-bad-stream", loc, {{"op", op}});
  }
  void DestroyStream(void* stream, Loc loc) {
    CheckStream(stream, "aclrtDestroyStream", loc);
    for (size_t i = 0; i < streams_.size(); ++i) {
      if (streams_[i] != stream) continue;
      delete streams_[i];
      streams_.erase(streams_.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
  }
  void Synchronize(const void* stream, Loc loc) {
    CheckStream(stream, "aclrtSynchronizeStream", loc);
    unfinished_.erase(stream);
  }
  void SynchronizeAll() { unfinished_.clear(); }
  // Notes that the program has put work on a stream other than the default one, and has not waited for it yet.
  void Enqueue(const void* stream) {
    if (stream != nullptr) unfinished_.insert(stream);
  }
  // Warns of a blocking copy while a stream has unfinished launches, because on a device the copy may overtake them.
  // Stops if the launch's options make this finding an error.
  void WarnIfUnfinished(const char* op, Loc loc) {
    if (unfinished_.empty()) return;
    if (IsError(job_, "host-not-synchronised", false)) Stop("host-not-synchronised", loc, {{"op", op}});
    const Field field{"op", op};
    ReportWriter(job_).Write("host-not-synchronised", "warning", loc, 0, &field, 1);
    unfinished_.clear();
  }

  template <class Body>
  void Launch(const char* kernel, int64_t blocks, const void* stream, Loc loc, Body body) {
    CheckStream(stream, "the launch", loc);
    if (blocks < 1 || blocks > 65535) Stop("host-bad-blocks", loc, {{"kernel", kernel}, {"blocks", blocks}});
    std::vector<GntArg> args;
    for (const Memory& one : memory_) {
      if (one.where == Where::Device) {
        args.push_back({one.name.c_str(), one.data, Reserved(one.bytes), GNT_TENSOR, GNT_INOUT});
      }
    }
    // Diagnostics, tally and the place of a crash belong to the whole run, so each launch uses the run's own job.
    const GntJob before = job_;
    job_.blocks = static_cast<uint32_t>(blocks);
    job_.args = args.data();
    job_.arg_count = static_cast<uint32_t>(args.size());
    const GntStatus status = RunBlocks(body, job_);
    job_.blocks = before.blocks;
    job_.args = before.args;
    job_.arg_count = before.arg_count;
    if (status != GNT_OK) StopBlock();
    Enqueue(stream);
  }

  GntJob& job() { return job_; }

  // The folder of the pipes to the process that answers calls of operators (aclnn_call.h), and the open connection;
  // empty and null for an ordinary sample.
  std::string calls_folder;
  std::shared_ptr<void> calls;

 private:
  struct Stream {
    int number = 0;
  };
  // aclrtMalloc reserves the size rounded up to 32 bytes, plus 32 (CANN 8.0, application API reference). Kernels rely
  // on this when they read the last block of an array. The host's copies may use only the requested size.
  static uint64_t Reserved(uint64_t bytes) { return (bytes + 31) / 32 * 32 + 32; }
  // Returns new pages, or null if there is no memory. Freed addresses are used again as late as possible, so that a use
  // after the free shows.
  uint8_t* NewPages(uint64_t bytes) {
    const auto used = [this](uint64_t stretch) {
      for (const Memory& one : memory_) {
        if (one.stretch == stretch) return true;
      }
      return false;
    };
    uint64_t tried = 0;
    do stretch_ = (stretch_ + 1) % kStretches;
    while (used(stretch_) && ++tried < kStretches);
    shift_ = (shift_ + bytes) % kMostShift;
    return FarAddresses(kStretches).Map(stretch_, shift_, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON).at;
  }
  // The alignment of aclrtMalloc's addresses.
  static constexpr uint64_t kAlign = 64;
  // The allocations that can lie far from each other at once: 64 GiB on each side of each.
  static constexpr uint64_t kStretches = 256;
  static constexpr uint64_t kMostShift = uint64_t{1} << 30;

  GntJob& job_;
  std::vector<Memory> memory_;
  uint64_t stretch_ = 0;  // of the last allocation
  uint64_t shift_ = 0;    // of the last allocation
  std::vector<Stream*> streams_;
  std::set<const void*> unfinished_;
};

inline Runtime* running = nullptr;

// Returns the runtime of the current run. Ends the process if there is none, for example if a static object of the
// sample allocates before main starts.
inline Runtime& Now() {
  if (running == nullptr) {
    fputs("a function of the host runtime was called before main started\n", stdout);
    fflush(stdout);
    _exit(1);
  }
  return *running;
}

// One launch with the values between <<< and >>>. A call of this object with the kernel's body runs the launch.
struct Started {
  const char* kernel;
  int64_t blocks;
  const void* stream;
  Loc loc;

  template <class Body>
  void operator()(Body body) const {
    Now().Launch(kernel, blocks, stream, loc, body);
  }
};

// Returns the launch kernel<<<blocks, l2ctrl, stream>>>. The second value is reserved and must be null or 0. Without
// the third value, the launch uses the default stream.
template <class Reserved = decltype(nullptr)>
Started Start(const char* kernel, int64_t blocks, Reserved = {}, const void* stream = nullptr, Loc loc = Loc::here()) {
  return {kernel, blocks, stream, loc};
}

// Calls the sample's main, in any of its forms; returns its exit code.
inline int CallMain(int (*entry)(), int, char**) { return entry(); }
inline int CallMain(void (*entry)(), int, char**) {
  entry();
  return 0;
}
inline int CallMain(int (*entry)(int, char**), int count, char** words) { return entry(count, words); }
inline int CallMain(int (*entry)(int, const char**), int count, char** words) {
  return entry(count, const_cast<const char**>(words));
}

// Runs a sample. The job's arguments are the words of its command line, from argv[0] on, and "@calls", the folder for
// calls of operators.
template <class Main>
GntStatus RunMain(Main entry, GntJob& job) {
  std::vector<std::string> words;
  std::string calls;
  for (uint32_t i = 0; i < job.arg_count; ++i) {
    std::string word(reinterpret_cast<const char*>(job.args[i].data), job.args[i].bytes);
    if (job.args[i].name != nullptr && strcmp(job.args[i].name, "@calls") == 0) {
      calls = std::move(word);
    } else {
      words.push_back(std::move(word));
    }
  }
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  Runtime runtime(job);
  runtime.calls_folder = std::move(calls);
  running = &runtime;
  job.nanoseconds = 0;
  GntStatus status = GNT_OK;
  int code = 0;
  try {
    code = CallMain(entry, static_cast<int>(words.size()), pointers.data());
  } catch (const Stopped&) {
    status = GNT_STOPPED;
  } catch (const std::exception& error) {
    const Field field{"what", error.what()};
    ReportWriter(job).Write("host-exception", "error", kCall, 0, &field, 1);
    status = GNT_STOPPED;
  }
  running = nullptr;
  if (status == GNT_OK && code != 0) {
    const Field field{"code", code};
    ReportWriter(job).Write("host-main-failed", "error", kCall, 0, &field, 1);
    status = GNT_STOPPED;
  }
  return status;
}

}  // namespace gn_twin::host

// An entry of a library that runs the sample's main as a launch of its own.
#define GNT_MAIN_ENTRY(NAME) {"main", [](GntJob& job) { return gn_twin::host::RunMain(&::NAME, job); }},
