// The C library's copies with the size of the destination, as host code of samples calls them.
#pragma once
#include <string.h>

typedef int errno_t;
#define EOK 0

// 0, or 34 (a range error) when the destination is too small; nothing is copied then.
inline errno_t memcpy_s(void* to, size_t room, const void* from, size_t bytes) {
  if (bytes > room) return 34;
  memcpy(to, from, bytes);
  return EOK;
}
inline errno_t memset_s(void* to, size_t room, int value, size_t bytes) {
  if (bytes > room) return 34;
  memset(to, value, bytes);
  return EOK;
}
