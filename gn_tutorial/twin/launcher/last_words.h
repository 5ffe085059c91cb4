// What the launcher writes into the job file when the kernel is stopped by a signal: which one, where the twin was, and
// what the fault address says.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#if defined(__APPLE__)
#include <sys/ucontext.h>
#else
#include <sys/syscall.h>
#include <ucontext.h>
#endif
#include <unistd.h>

#include <initializer_list>
#include <type_traits>

#include "filter.h"
#include "job_file.h"

namespace launcher {

inline constexpr int kReportedExit = 99;  // the exit code says nothing: the job file does
inline constexpr size_t kSignalStack = 64 * 1024;
inline constexpr uint64_t kStackBytes = 8 * 1024 * 1024;

inline JobFile* file = nullptr;
inline GntJob job = {};
inline uintptr_t stack_low = 0;
inline const char* folder = nullptr;  // where files may be written; null: nowhere

inline void CopyText(char* target, size_t capacity, const char* text) {
  size_t i = 0;
  for (; text != nullptr && text[i] != '\0' && i + 1 < capacity; ++i) target[i] = text[i];
  target[i] = '\0';
}

// The first cause is kept: a fault inside a handler must not hide it.
inline bool Claim(JobOutcome outcome) {
  if (file->outcome != JOB_UNKNOWN) return false;
  file->outcome = outcome;
  return true;
}

// The file name comes last: a wild kernel may have overwritten the pointer, and reading it then faults again.
inline void WriteHere() {
  file->here_line = job.here_line;
  file->here_block = job.here_block;
  file->observed = job.observed;
  file->tally = job.tally;
  CopyText(file->here_file, sizeof(file->here_file), job.here_file);
}

[[noreturn]] inline void EndBecauseOfCall(const char* name) {
  if (Claim(JOB_FORBIDDEN_CALL)) {
    CopyText(file->text, sizeof(file->text), name);
    WriteHere();
  }
  _exit(kReportedExit);
}

inline uintptr_t StackPointer(void* context) {
  const auto* state = static_cast<ucontext_t*>(context);
#if defined(__APPLE__) && defined(__aarch64__)
  return static_cast<uintptr_t>(state->uc_mcontext->__ss.__sp);
#elif defined(__APPLE__)
  return static_cast<uintptr_t>(state->uc_mcontext->__ss.__rsp);
#elif defined(__aarch64__)
  return static_cast<uintptr_t>(state->uc_mcontext.sp);
#else
  return static_cast<uintptr_t>(state->uc_mcontext.gregs[REG_RSP]);
#endif
}

inline bool OnMainThread() {
#if defined(__APPLE__)
  return pthread_main_np() != 0;
#else
  return syscall(SYS_gettid) == getpid();
#endif
}

#if defined(__linux__)
// A file to be created or written, in the folder for it: no "..", and no other absolute path. What a symbolic link at the
// end points to stays closed (O_NOFOLLOW).
inline bool InFolder(const char* path) {
  if (folder == nullptr || path == nullptr) return false;
  const size_t length = strlen(folder);
  if (path[0] == '/' && (strncmp(path, folder, length) != 0 || path[length] != '/')) return false;
  for (const char* at = path; (at = strstr(at, "..")) != nullptr; at += 2) {
    if ((at == path || at[-1] == '/') && (at[2] == '/' || at[2] == '\0')) return false;
  }
  return true;
}

// An open for writing was trapped: if the file may be written, opens it and lets the program go on with the descriptor.
inline bool OpenedInstead(int call, void* context) {
  auto* state = static_cast<ucontext_t*>(context);
#if defined(__aarch64__)
  auto* registers = state->uc_mcontext.regs;
  if (call != SYS_openat) return false;
  const uint64_t at = registers[0], path = registers[1], flags = registers[2], mode = registers[3];
  auto& result = registers[0];
#elif defined(__x86_64__)
  auto* registers = state->uc_mcontext.gregs;
  if (call != SYS_openat && call != SYS_open && call != SYS_creat) return false;
  const bool plain = call != SYS_openat;  // open(path, flags, mode), creat(path, mode)
  const uint64_t first = static_cast<uint64_t>(registers[REG_RDI]);
  const uint64_t second = static_cast<uint64_t>(registers[REG_RSI]);
  const uint64_t third = static_cast<uint64_t>(registers[REG_RDX]);
  const uint64_t at = plain ? static_cast<uint64_t>(AT_FDCWD) : first;
  const uint64_t path = plain ? first : second;
  const uint64_t flags = call == SYS_creat ? O_CREAT | O_WRONLY | O_TRUNC : (plain ? second : third);
  const uint64_t mode = call == SYS_creat ? second : (plain ? third : static_cast<uint64_t>(registers[REG_R10]));
  auto& result = registers[REG_RAX];
#else
  return false;
#endif
  const char* name = reinterpret_cast<const char*>(path);
  if (static_cast<int>(at) != AT_FDCWD || !InFolder(name)) return false;
  const long opened = syscall(SYS_openat, AT_FDCWD, name, flags | O_NOFOLLOW, mode & 0777, 0, kOwnCall);
  result = static_cast<std::remove_reference_t<decltype(result)>>(opened < 0 ? -errno : opened);
  return true;
}
#endif

// Only async-signal-safe calls: the kernel may have been inside malloc.
inline void OnSignal(int number, siginfo_t* info, void* context) {
#if defined(__linux__)
  if (number == SIGSYS) {
    const int error = errno;
    const bool done = OpenedInstead(info->si_syscall, context);
    errno = error;
    if (done) return;
    EndBecauseOfCall(SystemCallName(info->si_syscall));
  }
#endif
  if (Claim(JOB_SIGNAL)) {
    // A block has a stack of its own, whose lowest page nobody may touch. Of main's, the environment lies above its frame and belongs
    // to the stack, hence the larger margin.
    const uintptr_t used_up = job.here_stack != 0 ? job.here_stack + 64 * 1024 : stack_low + 512 * 1024;
    file->signal = number;
    file->signal_code = info->si_code;
    file->fault_address = reinterpret_cast<uintptr_t>(info->si_addr);
    const bool bad_access = number == SIGSEGV || number == SIGBUS;
    file->stack_overflow = bad_access && OnMainThread() && StackPointer(context) < used_up;
    WriteHere();
  }
  _exit(kReportedExit);
}

// The handlers need a stack of their own: the kernel may have used up the other one.
inline void InstallHandlers() {
  stack_t stack = {};
  stack.ss_sp = malloc(kSignalStack);
  stack.ss_size = kSignalStack;
  if (stack.ss_sp != nullptr) sigaltstack(&stack, nullptr);

  struct sigaction action = {};
  action.sa_sigaction = OnSignal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
  sigfillset(&action.sa_mask);
  sigset_t none;
  sigemptyset(&none);
  // SIGSEGV and SIGBUS stay deliverable: a second fault inside the handler then ends the process at once.
  for (int number : {SIGSEGV, SIGBUS}) sigdelset(&action.sa_mask, number);
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP, SIGPIPE, SIGTERM, SIGALRM, SIGXCPU,
                     SIGXFSZ, SIGINT, SIGHUP}) {
    // An open for writing may be trapped and carried out many times.
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | (number == SIGSYS ? 0 : static_cast<int>(SA_RESETHAND));
    sigaction(number, &action, nullptr);
  }
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Must run in main: remembers where the stack ends.
inline void LimitStack(uintptr_t main_frame) {
  rlimit limit = {};
  getrlimit(RLIMIT_STACK, &limit);
  if (limit.rlim_cur > kStackBytes) {
    limit.rlim_cur = kStackBytes;
    setrlimit(RLIMIT_STACK, &limit);
  }
  stack_low = main_frame - static_cast<uintptr_t>(limit.rlim_cur);
}

}  // namespace launcher
