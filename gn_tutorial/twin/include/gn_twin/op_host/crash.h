// Prints the return addresses on the stack of a host function that crashed, before the launcher's handler reports the
// signal. Python finds their source lines with the debugger's symbols; without symbols, it uses the last call into
// these headers.
#pragma once
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "gn_twin/base/config.h"
#include "gn_twin/op_host/notes.h"

namespace gn_twin::op_host {

inline struct sigaction before_crash[65];

inline void OnCrash(int number, siginfo_t* info, void* context) {
  static const char kMark[] = "\n@gnt-host-crash ";
  static const char kEnd[] = "@gnt-host-crash-end\n";
  char line[1024];
  const int size =
      snprintf(line, sizeof(line), "%d %u %s %s\n%u %s\n", number, static_cast<unsigned>(Last().line), Last().name,
               Last().file, static_cast<unsigned>(LastWithoutValues().line), LastWithoutValues().file);
  if (write(STDERR_FILENO, kMark, sizeof(kMark) - 1) < 0 || write(STDERR_FILENO, line, static_cast<size_t>(size)) < 0)
    _exit(1);
  void* frames[48];
  backtrace_symbols_fd(frames, backtrace(frames, 48), STDERR_FILENO);
  if (write(STDERR_FILENO, kEnd, sizeof(kEnd) - 1) < 0) _exit(1);
  const struct sigaction& before = before_crash[number];
  sigaction(number, &before, nullptr);
  if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction != nullptr) before.sa_sigaction(number, info, context);
}

inline void InstallCrashHandlers() {
  void* frames[2];
  backtrace(frames, 2);  // makes backtrace load its library now, because a signal handler may not be able to
  struct sigaction action = {};
  action.sa_sigaction = OnCrash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  // A run beyond its time limit gets SIGTERM, so that it reports its place.
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM})
    sigaction(number, &action, &before_crash[number]);
}

}  // namespace gn_twin::op_host
