// Linux: the file calls that a program may make in its one folder. The filter traps these calls. The handler of the
// trap checks the path and makes the call itself, or ends the program.
#pragma once

#if defined(__linux__)
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <type_traits>

#include "filter.h"

namespace launcher {

inline const char* folder = nullptr;  // the folder where files may be written; null: none

// A trapped call, expressed in its *at form: the call, the directory descriptor, the path, flags and mode.
struct FileCall {
  enum Kind : uint8_t { Other, Open, MakeFolder, Remove, RemoveFolder } kind = Other;
  uint64_t at = 0, path = 0, flags = 0, mode = 0;
};

inline FileCall ReadFileCall(int call, const uint64_t (&words)[4]) {
  const uint64_t here = static_cast<uint64_t>(AT_FDCWD);
  const bool removes_folder = (words[2] & AT_REMOVEDIR) != 0;
  switch (call) {
    case SYS_openat: return {FileCall::Open, words[0], words[1], words[2], words[3]};
    case SYS_mkdirat: return {FileCall::MakeFolder, words[0], words[1], 0, words[2]};
    case SYS_unlinkat: return {removes_folder ? FileCall::RemoveFolder : FileCall::Remove, words[0], words[1], 0, 0};
#ifdef SYS_open
    case SYS_open: return {FileCall::Open, here, words[0], words[1], words[2]};
    case SYS_creat: return {FileCall::Open, here, words[0], O_CREAT | O_WRONLY | O_TRUNC, words[1]};
    case SYS_mkdir: return {FileCall::MakeFolder, here, words[0], 0, words[1]};
    case SYS_unlink: return {FileCall::Remove, here, words[0], 0, 0};
    case SYS_rmdir: return {FileCall::RemoveFolder, here, words[0], 0, 0};
#endif
    default: return {};
  }
}

// Whether the folder of an open descriptor is the writable folder or lies in it. The system has resolved its path, so
// links to folders elsewhere and ".." have no effect.
inline bool InFolder(int descriptor) {
  char link[32] = "/proc/self/fd/";
  size_t at = strlen(link);
  char digits[12];
  size_t count = 0;
  for (int rest = descriptor; rest > 0 || count == 0; rest /= 10) digits[count++] = static_cast<char>('0' + rest % 10);
  while (count > 0) link[at++] = digits[--count];
  link[at] = '\0';
  char real[4096];
  const ssize_t got = readlink(link, real, sizeof(real) - 1);
  if (got <= 0) return false;
  real[got] = '\0';
  const size_t length = strlen(folder);
  return strncmp(real, folder, length) == 0 && (real[length] == '/' || real[length] == '\0');
}

// Opens the folder of a path, points `name` at the path's last part, and returns the folder's descriptor. Returns -1 if
// the folder cannot be opened, if the last part is missing, "." or "..", or if the path is too long.
inline int OpenParent(const char* path, char (&copy)[4096], const char*& name) {
  size_t length = strlen(path);
  if (length == 0 || length >= sizeof(copy)) return -1;
  memcpy(copy, path, length + 1);
  while (length > 1 && copy[length - 1] == '/') copy[--length] = '\0';
  char* slash = strrchr(copy, '/');
  name = slash != nullptr ? slash + 1 : copy;
  if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) return -1;
  const char* parent = slash == nullptr ? "." : slash == copy ? "/" : copy;
  if (slash != nullptr) *slash = '\0';
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, parent, O_PATH | O_DIRECTORY | O_CLOEXEC, 0));
}

// Makes a trapped call if it is allowed, and lets the program continue with the result; returns false if it is not
// allowed. A symbolic link at the end of the path is not followed (O_NOFOLLOW).
inline bool DoneInFolder(int call, void* context) {
  auto* state = static_cast<ucontext_t*>(context);
#if defined(__aarch64__)
  auto* registers = state->uc_mcontext.regs;
  const uint64_t words[4] = {registers[0], registers[1], registers[2], registers[3]};
  auto& result = registers[0];
#elif defined(__x86_64__)
  auto* registers = state->uc_mcontext.gregs;
  const uint64_t words[4] = {static_cast<uint64_t>(registers[REG_RDI]), static_cast<uint64_t>(registers[REG_RSI]),
                             static_cast<uint64_t>(registers[REG_RDX]), static_cast<uint64_t>(registers[REG_R10])};
  auto& result = registers[REG_RAX];
#else
  return false;
#endif
  const FileCall asked = ReadFileCall(call, words);
  if (asked.kind == FileCall::Other || folder == nullptr || asked.path == 0) return false;
  if (static_cast<int>(asked.at) != AT_FDCWD) return false;
  char copy[4096];
  const char* name = nullptr;
  const int parent = OpenParent(reinterpret_cast<const char*>(asked.path), copy, name);
  if (parent < 0 || !InFolder(parent)) {
    if (parent >= 0) close(parent);
    return false;
  }
  long done = -1;
  if (asked.kind == FileCall::Open) {
    done = syscall(SYS_openat, parent, name, asked.flags | O_NOFOLLOW, asked.mode & 0777, 0, kOwnCall);
  } else if (asked.kind == FileCall::MakeFolder) {
    done = syscall(SYS_mkdirat, parent, name, asked.mode & 0777, 0, 0, kOwnCall);
  } else {
    const int flags = asked.kind == FileCall::RemoveFolder ? AT_REMOVEDIR : 0;
    done = syscall(SYS_unlinkat, parent, name, flags, 0, 0, kOwnCall);
  }
  const int error = errno;
  close(parent);
  errno = error;
  result = static_cast<std::remove_reference_t<decltype(result)>>(done < 0 ? -errno : done);
  return true;
}

}  // namespace launcher
#endif
