// The entry points of a kernel library (gn_twin/base/abi.h). A launch checks the arguments against the kernel's
// signature, then runs every block on a core of its own (core/scheduler.h). The generated file includes this header
// after the kernel's source.
#pragma once
#include <time.h>

#include <new>

#include "gn_twin/core/scheduler.h"
#include "gn_twin/core/async_copies.h"
#include "gn_twin/core/ending.h"
#include "gn_twin/base/shape_info.h"
#include "gn_twin/core/source_findings.h"
#include "gn_twin/core/ub_memory.h"
#include "gn_twin/core/watchers.h"

namespace gn_twin {

inline uint64_t Nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

// A place outside the learner's code, for problems of the call itself.
inline constexpr Loc kCall{"", 0};

template <class P>
inline constexpr bool kIsPointer = false;
template <class P>
inline constexpr bool kIsPointer<P*> = true;
template <class P>
struct Plain {
  using Type = P;
};
template <class P>
struct Plain<const P> {
  using Type = P;
};
template <class P>
struct Plain<P&> : Plain<P> {};

// Checks one argument, and converts it to the kernel's parameter type P: a pointer into global memory, or the bytes of
// a value.
template <class P>
struct Parameter {
  using Value = typename Plain<P>::Type;

  static bool Fits(const GntArg& arg) {
    if constexpr (kIsPointer<Value>) {
      return arg.kind == GNT_TENSOR;
    } else {
      return arg.kind == GNT_VALUE && arg.bytes == sizeof(Value);
    }
  }
  static Value From(const GntArg& arg) {
    if constexpr (kIsPointer<Value>) {
      return reinterpret_cast<Value>(arg.data);
    } else {
      Value value;
      __builtin_memcpy(&value, arg.data, sizeof(Value));
      return value;
    }
  }
};

template <uint32_t... kIndex>
struct Indices {};
template <uint32_t kCount, uint32_t... kIndex>
struct MakeIndices : MakeIndices<kCount - 1, kCount - 1, kIndex...> {};
template <uint32_t... kIndex>
struct MakeIndices<0, kIndex...> {
  using Type = Indices<kIndex...>;
};

inline GntStatus BadCall(GntJob& job, const char* id, std::initializer_list<Field> fields) {
  ReportWriter(job).Write(id, "error", kCall, 0, fields.begin(), static_cast<uint32_t>(fields.size()));
  return GNT_BAD_CALL;
}

// One launch of one kernel. Holds the data that every block needs to start. `Body` calls the kernel with its arguments.
template <class Body>
struct Launch {
  Body& body;
  GntJob& job;
  Watchers* watchers = nullptr;  // null in bare libraries

  Launch(Body& body, GntJob& job) : body(body), job(job) {
    if constexpr (kObserved) watchers = NewWatchers(job);
  }
  ~Launch() { delete watchers; }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  // Runs one block on a core of its own; returns false if it was stopped, threw an exception or had no memory for a UB.
  GNT_COLD bool RunBlock(Scheduler& scheduler, uint32_t block) {
    UbMemory* const ub = ObjectPool<UbMemory>::Take();
    if (ub == nullptr) {
      if (scheduler.TakeTurn(block)) BadCall(job, "call-no-memory", {{"bytes", kUbBytes}});
      return false;
    }
    GNT_AS_BUILT Core core;
    ShapeTable shapes;
    core.job = &job;
    core.shapes = &shapes;
    core.scheduler = &scheduler;
    core.ub = ub->bytes();
    core.block = block;
    if constexpr (kObserved) {
      job.here_block = block;
      core.observers = &watchers->All();
      core.findings = &watchers->Found();
      core.scalars.singly = job.trace.watch_count != 0;
      if (core.scalars.singly) core.scalars.RoomFor(1);
      if (job.options.delayed_dma != 0) core.delayed = new (std::nothrow) AsyncCopies;
      ub->Poison();
    }
    EnterCore(&core);
    Ending ending;  // reported after the work, because the block may end on another thread than it started on
    RunToItsEnd(ending, [&] {
      if constexpr (kObserved) core.observers->OnBlockBegin(core);
      CallBody();
      if constexpr (kObserved) {
        core.FlushScalars();
        if (core.delayed != nullptr) core.delayed->RunAll();
        TellAtomicOn(core);
        core.observers->OnBlockEnd(core);
      }
    });
    if (ending.thrown != nullptr) Tell(core, ending);
    EnterCore(nullptr);
    if constexpr (kObserved) delete core.delayed;
    ObjectPool<UbMemory>::Give(ub);
    return ending.good;
  }

  // Tells the observers that every block has run to its end; returns whether the launch had no errors.
  GNT_COLD bool Conclude() {
    if constexpr (kObserved) {
      GNT_AS_BUILT Core core;
      core.job = &job;
      core.observers = &watchers->All();
      core.findings = &watchers->Found();
      core.observers->OnLaunchEnd(core);
      return watchers->Found().Errors() == 0;
    } else {
      return true;
    }
  }

 private:
  // Marked as hot, because its only caller is cold. The compiler might otherwise treat the kernel as cold, too.
  [[gnu::noinline, gnu::hot]] void CallBody() { body(); }

  // Warns of an atomic mode that is still on when the block ends: a later copy would combine its data with the old
  // contents. Gives no warning after an error: such a copy may have caused the error, which names the copy's line.
  static void TellAtomicOn(Core& core) {
    if (core.atomic == 0 || core.findings->Errors() != 0) [[likely]]
      return;
    core.Warn("atomic-left-on", core.atomic_set, {}, {{"op", core.atomic_op}});
  }

  // Reports the exception that ended a block. The device has no exceptions, and an exception that left gnt_run would
  // end the calling process.
  GNT_COLD void Tell(Core& core, const Ending& ending) {
    const Field field{"what", ending.what};
    if (core.InTurn()) ReportWriter(job).Write(ending.thrown, "error", core.Here(), core.block, &field, 1);
  }
};

template <class... P, uint32_t... kIndex>
GNT_COLD bool ArgumentsFit(GntJob& job, Indices<kIndex...>) {
  bool lists = false;
  for (uint32_t i = 0; i < job.arg_count && i < sizeof...(P); ++i) lists = lists || job.args[i].role == GNT_LIST;
  if (job.arg_count < sizeof...(P) || (job.arg_count > sizeof...(P) && !lists)) {
    BadCall(job, "call-argument-count", {{"given", job.arg_count}, {"wanted", sizeof...(P)}});
    return false;
  }
  const bool fits[] = {true, Parameter<P>::Fits(job.args[kIndex])...};
  const uint64_t sizes[] = {0, sizeof(typename Parameter<P>::Value)...};
  for (uint32_t i = 0; i < sizeof...(P); ++i) {
    if (fits[i + 1]) continue;
    const char* name = job.args[i].name != nullptr ? job.args[i].name : "?";
    BadCall(job, "call-argument-kind",
            {{"index", i}, {"name", name}, {"bytes", job.args[i].bytes}, {"wanted", sizes[i + 1]}});
    return false;
  }
  return true;
}

// Runs every block of one launch; `body` calls the kernel with its arguments.
template <class Body>
GNT_COLD GntStatus RunBlocks(Body body, GntJob& job) {
  Launch<Body> launch(body, job);
  const uint64_t begin = Nanoseconds();
  Poisoning poison(job);
  Scheduler scheduler(
      job, poison,
      [](void* context, Scheduler& running, uint32_t block) {
        return static_cast<Launch<Body>*>(context)->RunBlock(running, block);
      },
      &launch);
  const bool good = scheduler.Run() && launch.Conclude();
  job.nanoseconds += Nanoseconds() - (poison.FinishedAt() != 0 ? poison.FinishedAt() : begin);
  return good ? GNT_OK : GNT_STOPPED;
}

// Returns the status of a launch whose blocks ended with `status`. A launch also fails if its source has code that a
// device refuses (`source_failed`).
inline GntStatus Judged(GntStatus status, bool source_failed) {
  return status == GNT_OK && source_failed ? GNT_STOPPED : status;
}

template <class... P, uint32_t... kIndex>
GntStatus RunKernel(void (*kernel)(P...), GntJob& job, Indices<kIndex...>) {
  return RunBlocks([kernel, &job] { kernel(Parameter<P>::From(job.args[kIndex])...); }, job);
}

template <class... P>
GntStatus Run(void (*kernel)(P...), GntJob& job) {
#ifdef GNT_ADDRESS_SPACES
  return GNT_OK;  // clang has read the kernel, and nothing is launched
#else
  using All = typename MakeIndices<sizeof...(P)>::Type;
  if (!ArgumentsFit<P...>(job, All{})) return GNT_BAD_CALL;
  if (!kObserved && job.options.delayed_dma != 0) return BadCall(job, "call-delayed-bare", {});
  job.nanoseconds = 0;
  return RunKernel(kernel, job, All{});
#endif
}

}  // namespace gn_twin

#define GNT_LIBRARY_BEGIN                                                 \
  extern "C" GNT_EXPORT uint32_t gnt_abi(void) {                          \
    return GNT_ABI_VERSION << 16 | static_cast<uint32_t>(sizeof(GntJob)); \
  }                                                                       \
  namespace gn_twin {                                                     \
  using Launcher = GntStatus (*)(GntJob&);                                \
  struct Entry {                                                          \
    const char* name;                                                     \
    Launcher run;                                                         \
  };                                                                      \
  static constexpr Entry kEntries[] = {
#define GNT_ENTRY(NAME) {#NAME, [](GntJob& job) { return gn_twin::Run(&::NAME, job); }},
// Adds an entry whose name for the host differs from its C++ name: an instance of a template, or a kernel with the name
// of a libc function.
#define GNT_NAMED_ENTRY(NAME, ...) {NAME, [](GntJob& job) { return gn_twin::Run(&::__VA_ARGS__, job); }},
#define GNT_LIBRARY_END                                                                               \
  }                                                                                                   \
  ;                                                                                                   \
  }                                                                                                   \
  extern "C" GNT_EXPORT int32_t gnt_run(const char* entry, GntJob* job) {                             \
    job->observed = gn_twin::kObserved ? 1 : 0;                                                       \
    if (job->report != nullptr && job->report_bytes > 0) job->report[0] = '\0';                       \
    job->tally = GntTally{};                                                                          \
    for (const gn_twin::Entry& candidate : gn_twin::kEntries) {                                       \
      if (__builtin_strcmp(candidate.name, entry) != 0) continue;                                     \
      const bool failed = gn_twin::ReportSource(*job, entry);                                         \
      return gn_twin::Judged(candidate.run(*job), failed);                                            \
    }                                                                                                 \
    return gn_twin::BadCall(*job, "call-unknown-entry", {{"entry", entry}});                          \
  }                                                                                                   \
  extern "C" GNT_EXPORT const char* gnt_entries(void) {                                               \
    static char names[sizeof(gn_twin::kEntries) / sizeof(gn_twin::kEntries[0]) * 128];                \
    if (names[0] == '\0') {                                                                           \
      unsigned long at = 0;                                                                           \
      for (const gn_twin::Entry& entry : gn_twin::kEntries) {                                         \
        for (const char* c = entry.name; *c != '\0' && at + 2 < sizeof(names); ++c) names[at++] = *c; \
        names[at++] = '\n';                                                                           \
      }                                                                                               \
    }                                                                                                 \
    return names;                                                                                     \
  }
