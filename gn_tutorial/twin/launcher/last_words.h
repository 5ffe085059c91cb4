// Writes a report into the job file when a signal stops the kernel: the signal, the fault address, whether the stack
// overflowed, and the twin's last reported place (GntJob::here_file and so on).
#pragma once
#include <errno.h>
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

#include "filter.h"
#include "folder_calls.h"
#include "job_file.h"

namespace launcher {

inline constexpr int kReportedExit = 99;  // the exit code does not matter: the job file has the reason
inline constexpr size_t kSignalStack = 64 * 1024;
inline constexpr uint64_t kStackBytes = 8 * 1024 * 1024;

inline JobFile* file = nullptr;
inline GntJob job = {};
inline uintptr_t stack_low = 0;

inline void CopyText(char* target, size_t capacity, const char* text) {
  size_t i = 0;
  for (; text != nullptr && text[i] != '\0' && i + 1 < capacity; ++i) target[i] = text[i];
  target[i] = '\0';
}

// Sets the outcome; returns false if it was set before. The first outcome stays, because a fault inside a handler must
// not hide it.
inline bool Claim(JobOutcome outcome) {
  if (file->outcome != JOB_UNKNOWN) return false;
  file->outcome = outcome;
  return true;
}

// Writes the twin's last reported place into the job file. The file name comes last: a kernel may have overwritten the
// pointer to the name, and reading the name then faults again.
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

// Whether a fault hit the lowest page of the stack in use, which has no access rights. Such a page lies near the stack
// pointer. The bounds of the stack are unknown for a thread of a bare launch.
inline bool AtStackPointer(const siginfo_t* info, void* context) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(info->si_addr), stack = StackPointer(context);
  return info->si_code == SEGV_ACCERR && at < stack + 64 * 1024 && stack < at + 1024 * 1024;
}

inline bool OnMainThread() {
#if defined(__APPLE__)
  return pthread_main_np() != 0;
#else
  return syscall(SYS_gettid) == getpid();
#endif
}

// Handles a signal. Makes only async-signal-safe calls, because the kernel may have been inside malloc.
inline void OnSignal(int number, siginfo_t* info, void* context) {
#if defined(__linux__)
  if (number == SIGSYS) {
    const int error = errno;
    const bool done = DoneInFolder(info->si_syscall, context);
    errno = error;
    if (done) return;
    EndBecauseOfCall(SystemCallName(info->si_syscall));
  }
#endif
  if (Claim(JOB_SIGNAL)) {
    // A stack pointer below `used_up` means that the stack overflowed. A block has its own stack, whose lowest page has
    // no access rights. Without a block, main's stack is in use. It ends above `stack_low` (main's frame minus the
    // limit), because the limit also covers the environment, which lies above that frame. So its margin must be larger.
    const uintptr_t used_up = job.here_stack != 0 ? job.here_stack + 64 * 1024 : stack_low + 512 * 1024;
    file->signal = number;
    file->signal_code = info->si_code;
    file->fault_address = reinterpret_cast<uintptr_t>(info->si_addr);
    const bool bad_access = number == SIGSEGV || number == SIGBUS;
    file->stack_overflow =
        bad_access && (OnMainThread() ? StackPointer(context) < used_up : AtStackPointer(info, context));
    WriteHere();
  }
  _exit(kReportedExit);
}

// Installs the handlers. The handlers have a stack of their own, because the kernel may have used up the normal one.
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
    // The handler of SIGSYS stays, because it carries out trapped file calls and a program may make many of them.
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | (number == SIGSYS ? 0 : static_cast<int>(SA_RESETHAND));
    sigaction(number, &action, nullptr);
  }
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Limits the stack of main, and sets `stack_low` to its lowest address. Must be called from main.
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
