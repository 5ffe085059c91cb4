// A kernel library written against the C interface alone (gn_twin/base/abi.h), without the twin: each entry is one way for a
// kernel to misbehave, or one thing a launch must let it do. Arguments of every entry: x (in) and y (out).
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <thread>

#include "gn_twin/base/abi.h"
#include "gn_twin/core/poison.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

extern char** environ;

namespace {

GntJob* job;
uint8_t* x;
uint8_t* y;
volatile uint64_t sink;

void Nothing() {}
void Copy() { memcpy(y, x, job->args[0].bytes); }
void Echo() {
  for (uint32_t i = 0; i < job->arg_count; ++i) {
    const GntArg& arg = job->args[i];
    printf("%s %d %d %llu %d\n", arg.name, static_cast<int>(arg.kind), static_cast<int>(arg.role),
           static_cast<unsigned long long>(arg.bytes), static_cast<int>(reinterpret_cast<uintptr_t>(arg.data) % 512));
  }
  printf("blocks %u key %llu overflow %u\n", job->blocks, static_cast<unsigned long long>(job->tiling_key),
         job->options.half_overflow);
}
void AddOne() {
  for (uint64_t i = 0; i < job->args[1].bytes; ++i) ++y[i];
}
void Count() {
  job->tally.instructions[1] = 7;
  job->tally.bytes_in = 64;
  job->nanoseconds = 1500000;
}

// Time.
void Loop() {
  for (;;) sink = sink + 1;
}
void DeafLoop() {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  Loop();
}
void Pause() {
  for (;;) pause();
}
void Freeze() { raise(SIGSTOP); }
void CloseAndLoop() {
  for (int i = 0; i < 64; ++i) close(i);
  Loop();
}

// Crashes.
void Null() { *reinterpret_cast<volatile int*>(sink) = 1; }
void Wild() { *reinterpret_cast<volatile int*>(uintptr_t{0x123456780}) = 1; }
void NoAddress() { *reinterpret_cast<volatile int*>(uintptr_t{0xdead000000000000}) = 1; }
void WriteInput() { *static_cast<volatile uint8_t*>(x) = 1; }
void PastEnd() { static_cast<volatile uint8_t*>(y)[job->args[1].bytes + 600] = 1; }
void TilePastEnd() { static_cast<volatile uint8_t*>(y)[job->args[1].bytes + 192 * 1024] = 1; }
// As an index of 32 bits that wrapped around, and beyond all that the file holds of this launch or an earlier one.
void FarPastEnd() { sink = static_cast<volatile uint8_t*>(x)[job->args[0].bytes + (uint64_t{48} << 30)]; }
// Behind the bytes that every allocation has there: the size rounded up to 32, and 32 more.
void JustPastEnd() { static_cast<volatile uint8_t*>(y)[(job->args[1].bytes + 31) / 32 * 32 + 32] = 1; }
void JustBefore() { static_cast<volatile uint8_t*>(y)[-1] = 1; }
void Divide() {
  const volatile int divisor = 0;
  sink = static_cast<uint64_t>(static_cast<int>(sink + 7) / divisor);
}
[[gnu::noinline]] uint64_t Deeper(uint64_t n) {
  volatile uint8_t frame[512];
  frame[n % 512] = 1;
  return Deeper(n + 1) + frame[(n + 1) % 512];
}
void StackOverflow() { sink = Deeper(0); }
void ThreadStackOverflow() { std::thread(StackOverflow).join(); }
void Abort() { abort(); }
void ThreadAbort() { std::thread(abort).join(); }
void Throw() { throw std::runtime_error("tile too large"); }
void ThrowInt() { throw 3; }
void ThreadThrow() { std::thread(Throw).join(); }
void PrintThenCrash() {
  printf("reached tile 4\n");
  abort();
}
void KillSelf() { kill(getpid(), SIGKILL); }
void ScribbleJob() {
  // The job file's header lies before the report.
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  char* const start = reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(job->report) / page * page);
  memset(start, 0xee, static_cast<size_t>(job->report + job->report_bytes - start));
}

// Endings.
void Exit0() { exit(0); }
void Exit3() { exit(3); }
void UnderscoreExit() { _exit(0); }

// Memory.
// Through a volatile pointer, or the compiler would leave the allocation out.
uint8_t* volatile memory;
void New100GB() {
  memory = new uint8_t[100ull << 30];
  memory[4096] = 1;
}
void Malloc100GB() {
  memory = static_cast<uint8_t*>(malloc(100ull << 30));
  memory[4096] = 1;
}
void NewInSteps() {
  for (;;) {
    memory = new uint8_t[16 << 20];
    memory[4096] = 1;
  }
}

// Output.
void Print() {
  printf("to output\n");
  fflush(stdout);
  fprintf(stderr, "to error\n");
}
void PrintForever() {
  for (;;) printf("again and again\n");
}
void PrintBinary() { fwrite("\xff\xfe\n", 1, 3, stdout); }
void Close() {
  for (int i = 0; i < 64; ++i) close(i);
}

// System calls.
void Fork() {
  if (fork() == 0) Loop();
}
void RawFork() {
#if defined(SYS_fork)
  if (syscall(SYS_fork) == 0) Loop();
#else
  if (syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr) == 0) Loop();
#endif
}
void Spawn() {
  char name[] = "true";
  char* argv[] = {name, nullptr};
  pid_t child;
  if (posix_spawnp(&child, name, nullptr, nullptr, argv, environ) == 0) waitpid(child, nullptr, 0);
}
void System() { sink = static_cast<uint64_t>(system("true")); }
void Exec() {
  char name[] = "/bin/true";
  char* argv[] = {name, nullptr};
  execve(name, argv, environ);
}
void Socket() { sink = static_cast<uint64_t>(socket(AF_INET, SOCK_STREAM, 0)); }
void KillParent() { kill(getppid(), SIGKILL); }
void KillGroup() { kill(0, SIGKILL); }
void KillAll() { kill(-1, 0); }  // signal 0 only asks: a filter with a hole must not end the test run
void OpenForWriting() { sink = static_cast<uint64_t>(open("kernel_was_here", O_WRONLY | O_CREAT, 0600)); }
void FileStream() { sink = fopen("kernel_was_here", "w") != nullptr; }
void Unlink() { unlink("kernel_was_here"); }
void Rename() { rename("kernel_was_here", "kernel_was_there"); }
void MakeFolder() { mkdir("kernel_was_here", 0700); }
void ShrinkFiles() {
  for (int i = 0; i < 16; ++i) sink = static_cast<uint64_t>(ftruncate(i, 0));
}
#if defined(__linux__)
// Of Python, the kernel's parent; the values are those that it has, in case the filter has a hole.
void Reprioritise() { setpriority(PRIO_PROCESS, static_cast<id_t>(getppid()), getpriority(PRIO_PROCESS, 0)); }
void ReprioritiseAll() { setpriority(PRIO_USER, 0, getpriority(PRIO_PROCESS, 0)); }
void MoveToCore() {
  unsigned long cores[16] = {};
  syscall(SYS_sched_getaffinity, 0, sizeof(cores), cores);
  syscall(SYS_sched_setaffinity, getppid(), sizeof(cores), cores);
}
void Reschedule() {
  int priority = 0;
  syscall(SYS_sched_setscheduler, getppid(), 0, &priority);
}
void Reparameter() {
  int priority = 0;
  syscall(SYS_sched_setparam, getppid(), &priority);
}
void Reattribute() {
  alignas(8) uint32_t attributes[12] = {sizeof(attributes)};
  syscall(SYS_sched_setattr, getppid(), attributes, 0);
}
void StarveDisk() { syscall(SYS_ioprio_set, 1, getppid(), 0); }
void RemoveShared() { syscall(SYS_shmctl, -1, 0, nullptr); }
void OwnCores() {
  unsigned long cores[16] = {};
  if (syscall(SYS_sched_getaffinity, 0, sizeof(cores), cores) < 0) throw std::runtime_error("cannot ask");
  if (syscall(SYS_sched_setaffinity, 0, sizeof(cores), cores) < 0) throw std::runtime_error("cannot set its own");
}
#endif
void RaiseLimit() {
  const rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
}

// What a kernel may do.
void Threads() {
  std::thread first([] { y[0] = 1; });
  std::thread second([] { y[1] = 2; });
  first.join();
  second.join();
}
void ReadFile() {
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == nullptr) throw std::runtime_error("cannot read");
  fclose(file);
}
void AskLimit() {
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0) throw std::runtime_error("cannot ask");
  printf("%llu\n", static_cast<unsigned long long>(limit.rlim_cur));
}
void OpenDescriptors() {
  for (int i = 3; i < 256; ++i) {
    if (fcntl(i, F_GETFD) != -1) printf("%d is open\n", i);
  }
}

struct Entry {
  const char* name;
  void (*run)();
};
#define ENTRY(name) {#name, name}
constexpr Entry kEntries[] = {
    ENTRY(Nothing),      ENTRY(Copy),
    ENTRY(Echo),         ENTRY(AddOne),
    ENTRY(Count),        ENTRY(Loop),
    ENTRY(DeafLoop),     ENTRY(Pause),
    ENTRY(Freeze),       ENTRY(CloseAndLoop),
    ENTRY(Null),         ENTRY(Wild),
    ENTRY(NoAddress),    ENTRY(WriteInput),
    ENTRY(PastEnd),      ENTRY(JustPastEnd),
    ENTRY(JustBefore),   ENTRY(Divide),
    ENTRY(Abort),        ENTRY(StackOverflow),
    ENTRY(ThreadAbort),  ENTRY(Throw),
    ENTRY(ThrowInt),     ENTRY(ThreadStackOverflow),
    ENTRY(KillSelf),     ENTRY(ScribbleJob),
    ENTRY(Exit0),        ENTRY(PrintThenCrash),
    ENTRY(Exit3),        ENTRY(New100GB),
    ENTRY(NewInSteps),   ENTRY(UnderscoreExit),
    ENTRY(Malloc100GB),  ENTRY(Print),
    ENTRY(Close),        ENTRY(PrintForever),
    ENTRY(PrintBinary),  ENTRY(Fork),
    ENTRY(RawFork),      ENTRY(Spawn),
    ENTRY(System),       ENTRY(Exec),
    ENTRY(Socket),       ENTRY(KillParent),
    ENTRY(KillGroup),    ENTRY(KillAll),
    ENTRY(FileStream),   ENTRY(OpenForWriting),
    ENTRY(Unlink),       ENTRY(Rename),
    ENTRY(MakeFolder),   ENTRY(ShrinkFiles),
    ENTRY(RaiseLimit),
#if defined(__linux__)
    ENTRY(Reprioritise), ENTRY(ReprioritiseAll),
    ENTRY(MoveToCore),   ENTRY(Reschedule),
    ENTRY(Reparameter),  ENTRY(Reattribute),
    ENTRY(StarveDisk),   ENTRY(RemoveShared),
    ENTRY(OwnCores),
#endif
    ENTRY(Threads),      ENTRY(ReadFile),
    ENTRY(AskLimit),     ENTRY(ThreadThrow),
    ENTRY(TilePastEnd),  ENTRY(OpenDescriptors),
    ENTRY(FarPastEnd),
};

}  // namespace

EXPORT uint32_t gnt_abi() { return GNT_ABI_VERSION << 16 | sizeof(GntJob); }

EXPORT int32_t gnt_run(const char* entry, GntJob* given) {
  gn_twin::Poisoning(*given).Help();
  job = given;
  x = job->args[0].data;
  y = job->arg_count > 1 ? job->args[1].data : nullptr;
  // The place a twin would have reported last.
  job->observed = 1;
  job->here_file = "kernel.cpp";
  job->here_line = 12;
  job->here_block = 3;
  for (const Entry& candidate : kEntries) {
    if (strcmp(candidate.name, entry) == 0) {
      candidate.run();
      return GNT_OK;
    }
  }
  snprintf(job->report, job->report_bytes,
           "{\"id\":\"call-unknown-entry\",\"severity\":\"error\",\"file\":\"\",\"line\":0,\"block\":0,"
           "\"fields\":{\"entry\":\"%s\"}}\n",
           entry);
  return strcmp(entry, "Stopped") == 0 ? GNT_STOPPED : GNT_BAD_CALL;
}
