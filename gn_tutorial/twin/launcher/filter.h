// Linux: a seccomp filter that sends SIGSYS for system calls that no kernel needs. So a hostile or wrong kernel can
// only compute, print, allocate, start threads and read files.
//
// The filter lists forbidden calls, not allowed ones, because C libraries differ in the calls that they make, and a
// list of allowed calls would fail with the next library. Reading files stays allowed, because the loader reads files.
#pragma once

#if defined(__linux__) && __has_include(<linux/seccomp.h>)
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace launcher {

// Marks the launcher's own file calls in the folder that a sample may write to (folder_calls.h). The mark is passed as
// the sixth argument, which these calls do not use.
inline constexpr uint32_t kOwnCall = 0x676e7477;

enum class Rule : uint8_t {
  Never,
  Missing,       // answers ENOSYS, because its arguments are behind a pointer; libc then uses the older call
  OnlyThreads,   // clone that makes a thread
  OnlySelf,      // the first argument is the caller's process id
  OnlySelfOr0,   // the same, or 0, which also means the caller
  OnlyReading1,  // opens for reading only; flags in argument 1
  OnlyReading2,  // opens for reading only, and any open of the launcher itself; flags in argument 2
  OnlyOwn,       // calls of the launcher itself
  OnlyAsking     // prlimit64 that sets nothing
};

struct SystemCall {
  uint32_t number;
  const char* name;
  Rule rule;
};

// aarch64 has no fork. Of open, unlink and others it has only the *at forms.
#define GNT_CALL(name, rule) {SYS_##name, #name, Rule::rule}
inline constexpr SystemCall kSystemCalls[] = {
    // Processes.
    GNT_CALL(clone, OnlyThreads),
    GNT_CALL(execve, Never),
    GNT_CALL(execveat, Never),
    GNT_CALL(setsid, Never),
    GNT_CALL(setpgid, Never),
    GNT_CALL(ptrace, Never),
    GNT_CALL(process_vm_readv, Never),
    GNT_CALL(process_vm_writev, Never),
    GNT_CALL(kill, OnlySelf),
    GNT_CALL(tkill, OnlySelf),
    GNT_CALL(tgkill, OnlySelf),
    GNT_CALL(rt_sigqueueinfo, OnlySelf),
    GNT_CALL(rt_tgsigqueueinfo, OnlySelf),
    GNT_CALL(prlimit64, OnlyAsking),
    GNT_CALL(setrlimit, Never),
    // Calls that slow down a user's other processes. Before they were forbidden, Python kept a priority that a kernel
    // had set.
    GNT_CALL(setpriority, Never),
    GNT_CALL(ioprio_set, Never),
    GNT_CALL(sched_setaffinity, OnlySelfOr0),
    GNT_CALL(sched_setparam, OnlySelfOr0),
    GNT_CALL(sched_setscheduler, OnlySelfOr0),
    GNT_CALL(sched_setattr, OnlySelfOr0),
    GNT_CALL(migrate_pages, Never),
    GNT_CALL(move_pages, Never),
    GNT_CALL(perf_event_open, Never),
#ifdef SYS_fork
    GNT_CALL(fork, Never),
    GNT_CALL(vfork, Never),
#endif
#ifdef SYS_clone3
    GNT_CALL(clone3, Missing),
#endif
#ifdef SYS_pidfd_open
    GNT_CALL(pidfd_open, Never),
#endif
#ifdef SYS_pidfd_send_signal
    GNT_CALL(pidfd_send_signal, Never),
#endif
#ifdef SYS_process_madvise
    GNT_CALL(process_madvise, Never),
#endif
    // Files. ftruncate matters most: a shrunk job file would end Python with SIGBUS.
    GNT_CALL(openat, OnlyReading2),
    GNT_CALL(truncate, Never),
    GNT_CALL(ftruncate, Never),
    GNT_CALL(unlinkat, OnlyOwn),
    GNT_CALL(renameat2, Never),
    GNT_CALL(linkat, Never),
    GNT_CALL(symlinkat, Never),
    GNT_CALL(mkdirat, OnlyOwn),
    GNT_CALL(mknodat, Never),
    GNT_CALL(fchmod, Never),
    GNT_CALL(fchmodat, Never),
    GNT_CALL(fchown, Never),
    GNT_CALL(fchownat, Never),
    GNT_CALL(utimensat, Never),
    GNT_CALL(setxattr, Never),
    GNT_CALL(lsetxattr, Never),
    GNT_CALL(open_by_handle_at, Never),
#ifdef SYS_renameat
    GNT_CALL(renameat, Never),
#endif
#ifdef SYS_openat2
    GNT_CALL(openat2, Missing),
#endif
#ifdef SYS_fchmodat2
    GNT_CALL(fchmodat2, Never),
#endif
#ifdef SYS_open
    GNT_CALL(open, OnlyReading1),
    GNT_CALL(creat, Never),
    GNT_CALL(unlink, Never),
    GNT_CALL(rmdir, Never),
    GNT_CALL(rename, Never),
    GNT_CALL(link, Never),
    GNT_CALL(symlink, Never),
    GNT_CALL(mkdir, Never),
    GNT_CALL(mknod, Never),
    GNT_CALL(chmod, Never),
    GNT_CALL(chown, Never),
    GNT_CALL(lchown, Never),
    GNT_CALL(utime, Never),
    GNT_CALL(utimes, Never),
    GNT_CALL(futimesat, Never),
#endif
    // The network, other processes, and objects that outlive the process. io_uring would do all of this unobserved.
    GNT_CALL(socket, Never),
    GNT_CALL(socketpair, Never),
    GNT_CALL(shmget, Never),
    GNT_CALL(shmat, Never),
    GNT_CALL(shmctl, Never),
    GNT_CALL(semget, Never),
    GNT_CALL(semop, Never),
    GNT_CALL(semtimedop, Never),
    GNT_CALL(semctl, Never),
    GNT_CALL(msgget, Never),
    GNT_CALL(msgsnd, Never),
    GNT_CALL(msgrcv, Never),
    GNT_CALL(msgctl, Never),
    GNT_CALL(add_key, Never),
    GNT_CALL(keyctl, Never),
    GNT_CALL(mq_open, Never),
    GNT_CALL(mq_unlink, Never),
#ifdef SYS_io_uring_setup
    GNT_CALL(io_uring_setup, Never),
#endif
    // Calls that change the machine: containers of a course often run as root.
    GNT_CALL(mount, Never),
    GNT_CALL(umount2, Never),
    GNT_CALL(pivot_root, Never),
    GNT_CALL(chroot, Never),
    GNT_CALL(swapon, Never),
    GNT_CALL(swapoff, Never),
    GNT_CALL(reboot, Never),
    GNT_CALL(kexec_load, Never),
    GNT_CALL(init_module, Never),
    GNT_CALL(finit_module, Never),
    GNT_CALL(delete_module, Never),
    GNT_CALL(bpf, Never),
    GNT_CALL(setns, Never),
    GNT_CALL(unshare, Never),
    GNT_CALL(sethostname, Never),
    GNT_CALL(setdomainname, Never),
    GNT_CALL(settimeofday, Never),
    GNT_CALL(clock_settime, Never),
};
#undef GNT_CALL

inline const char* SystemCallName(int number) {
  for (const SystemCall& call : kSystemCalls) {
    if (static_cast<int>(call.number) == number) return call.name;
  }
  return "";
}

class FilterProgram {
 public:
  FilterProgram() {
#if defined(__x86_64__)
    constexpr uint32_t kArch = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
    constexpr uint32_t kArch = AUDIT_ARCH_AARCH64;
#else
#error "no seccomp filter for this processor"
#endif
    // 32-bit calls have other numbers, and would be mistaken for other calls.
    Load(offsetof(seccomp_data, arch));
    Add(BPF_JMP | BPF_JEQ | BPF_K, kArch, 1, 0);
    Answer(SECCOMP_RET_KILL_PROCESS);
    Load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
    Add(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);  // the x32 calls
    Answer(SECCOMP_RET_KILL_PROCESS);
#endif
    AddCalls();
  }

  // Installs the filter. Returns false if the system has no seccomp (some containers); the kernel then runs without the
  // filter.
  bool Install() {
    sock_fprog program{static_cast<unsigned short>(length_), code_};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
  }

 private:
  // Adds the calls sorted by number and in groups, so that a call skips in one step each group that does not contain
  // it. When the filter is installed, the system runs it for each call number. With all calls in one list, these runs
  // took longer than loading the kernel's library.
  void AddCalls() {
    SystemCall sorted[kCalls];
    for (int i = 0; i < kCalls; ++i) {
      int at = i;
      for (; at > 0 && sorted[at - 1].number > kSystemCalls[i].number; --at) sorted[at] = sorted[at - 1];
      sorted[at] = kSystemCalls[i];
    }
    for (int i = 0; i < kCalls; i += kGroup) {
      const int next = i + kGroup, jump = length_;
      if (next < kCalls) Add(BPF_JMP | BPF_JGE | BPF_K, sorted[next].number, 0, 0);
      for (int call = i; call < next && call < kCalls; ++call) AddCall(sorted[call]);
      Answer(SECCOMP_RET_ALLOW);
      if (next < kCalls) code_[jump].jt = static_cast<uint8_t>(length_ - jump - 1);
    }
  }
  void AddCall(const SystemCall& call) {
    const int jump = length_;
    Add(BPF_JMP | BPF_JEQ | BPF_K, call.number, 0, 0);
    switch (call.rule) {
      case Rule::Never: Answer(SECCOMP_RET_TRAP); break;
      case Rule::Missing: Answer(SECCOMP_RET_ERRNO | ENOSYS); break;
      case Rule::OnlyThreads:
        LoadArgument(0);
        Add(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1);
        AllowElseTrap();
        break;
      case Rule::OnlySelf:
      case Rule::OnlySelfOr0:
        LoadArgument(0);
        if (call.rule == Rule::OnlySelfOr0) {
          Add(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
          Answer(SECCOMP_RET_ALLOW);
        }
        Add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(getpid()), 0, 1);
        AllowElseTrap();
        break;
      case Rule::OnlyReading1:
      case Rule::OnlyReading2:
        if (call.rule == Rule::OnlyReading2) {
          LoadArgument(5);
          Add(BPF_JMP | BPF_JEQ | BPF_K, kOwnCall, 0, 1);
          Answer(SECCOMP_RET_ALLOW);
        }
        LoadArgument(call.rule == Rule::OnlyReading1 ? 1 : 2);
        Add(BPF_ALU | BPF_AND | BPF_K, O_ACCMODE | O_CREAT | O_TRUNC);
        Add(BPF_JMP | BPF_JEQ | BPF_K, O_RDONLY, 0, 1);
        AllowElseTrap();
        break;
      case Rule::OnlyOwn:
        LoadArgument(5);
        Add(BPF_JMP | BPF_JEQ | BPF_K, kOwnCall, 0, 1);
        AllowElseTrap();
        break;
      case Rule::OnlyAsking:
        LoadArgument(2);
        Add(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3);
        Load(offsetof(seccomp_data, args[2]) + 4);
        Add(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
        AllowElseTrap();
        break;
    }
    code_[jump].jf = static_cast<uint8_t>(length_ - jump - 1);
  }
  // Loads the low half of an argument, which comes first because both processors are little-endian.
  void LoadArgument(int index) { Load(static_cast<uint32_t>(offsetof(seccomp_data, args) + 8 * index)); }
  void Load(uint32_t offset) { Add(BPF_LD | BPF_W | BPF_ABS, offset); }
  void AllowElseTrap() {
    Answer(SECCOMP_RET_ALLOW);
    Answer(SECCOMP_RET_TRAP);
  }
  void Answer(uint32_t value) { Add(BPF_RET | BPF_K, value); }
  void Add(uint16_t code, uint32_t k, uint8_t jt = 0, uint8_t jf = 0) { code_[length_++] = {code, jt, jf, k}; }

  static constexpr int kCalls = sizeof(kSystemCalls) / sizeof(kSystemCalls[0]);
  static constexpr int kGroup = 10;        // a jump over a group can skip at most 255 steps
  static constexpr int kLongestCall = 10;  // in steps
  sock_filter code_[8 + (kLongestCall + 2) * kCalls];
  int length_ = 0;
};

inline bool InstallFilter() { return FilterProgram().Install(); }

}  // namespace launcher

#else

namespace launcher {
inline bool InstallFilter() { return false; }
inline const char* SystemCallName(int) { return ""; }
}  // namespace launcher

#endif
