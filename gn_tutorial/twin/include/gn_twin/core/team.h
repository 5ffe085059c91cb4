// Threads that run one function together, and their synchronisation. The caller is one of them.
#pragma once
#include <pthread.h>
#if !defined(__wasm__)
#include <signal.h>
#endif
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#if defined(__linux__)
#include <sched.h>
#endif

#include "gn_twin/base/config.h"

namespace gn_twin {

// Returns the number of processors that this process may use.
GNT_COLD inline uint32_t UsableProcessors() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return static_cast<uint32_t>(CPU_COUNT(&set));
#endif
  const long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 ? static_cast<uint32_t>(count) : 1;
}

// A mutex and a condition variable. It does not use <thread>, which takes as long to compile as a small kernel.
class Shared {
 public:
  void Lock() { pthread_mutex_lock(&mutex_); }
  void Unlock() { pthread_mutex_unlock(&mutex_); }
  // Wait and Changed are called while locked.
  void Wait() { pthread_cond_wait(&changed_, &mutex_); }
  void Changed() { pthread_cond_broadcast(&changed_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed_ = PTHREAD_COND_INITIALIZER;
};

#if defined(__wasm__)
class Team {
 public:
  static constexpr uint32_t kMost = 1;
  static void Run(uint32_t, void (*work)(void* context), void* context) { work(context); }
};
#else
class Team {
 public:
  static constexpr uint32_t kMost = 16;  // more threads do not give a bare kernel more memory bandwidth

  // Calls work(context) on `threads` threads, including this one, or on fewer if the system refuses. Returns when all
  // calls have returned. Each Run starts new threads, because persistent threads would be missing in a forked child.
  GNT_COLD static void Run(uint32_t threads, void (*work)(void* context), void* context) {
    Member all[kMost];
    stack_t signals = {};
    const bool handled = sigaltstack(nullptr, &signals) == 0 && (signals.ss_flags & SS_DISABLE) == 0;
    uint32_t made = 0;
    for (; made + 1 < threads && made < kMost; ++made) {
      Member& one = all[made];
      one.work = work;
      one.context = context;
      one.signal_stack_bytes = handled ? signals.ss_size : 0;
      if (pthread_create(&one.thread, nullptr, Main, &one) != 0) break;
    }
    work(context);
    for (uint32_t i = 0; i < made; ++i) pthread_join(all[i].thread, nullptr);
  }

 private:
  struct Member {
    pthread_t thread;
    void (*work)(void*);
    void* context;
    size_t signal_stack_bytes;
  };

  GNT_COLD static void* Main(void* member) {
    const Member& mine = *static_cast<Member*>(member);
    // If the caller handles signals on a separate stack, this thread does too. Then the stack overflow of a block that
    // runs on this thread is also reported.
    stack_t stack = {};
    if (mine.signal_stack_bytes != 0) stack.ss_sp = malloc(mine.signal_stack_bytes);
    stack.ss_size = mine.signal_stack_bytes;
    if (stack.ss_sp != nullptr) sigaltstack(&stack, nullptr);
    mine.work(mine.context);
    stack.ss_flags = SS_DISABLE;
    if (stack.ss_sp != nullptr) sigaltstack(&stack, nullptr);
    free(stack.ss_sp);
    return nullptr;
  }
};
#endif

}  // namespace gn_twin
