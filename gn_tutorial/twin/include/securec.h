// Functions that copy memory and texts and also take the size of the destination (memcpy_s and similar). Host code of
// samples calls them.
#pragma once
#include <stdio.h>
#include <string.h>

typedef int errno_t;
#define EOK 0

// Copies and returns 0. If the destination is too small, copies nothing and returns 34 (a range error).
inline errno_t memcpy_s(void* to, size_t room, const void* from, size_t bytes) {
  if (bytes > room) return 34;
  memcpy(to, from, bytes);
  return EOK;
}
// Copies a text with its final zero and returns 0. If the destination is too small, makes it an empty text and returns
// 34.
inline errno_t strcpy_s(char* to, size_t room, const char* from) {
  const size_t length = strlen(from);
  if (length < room) return memcpy(to, from, length + 1), EOK;
  if (room > 0) to[0] = 0;
  return 34;
}
inline errno_t strcat_s(char* to, size_t room, const char* from) {
  const size_t held = strnlen(to, room), length = strlen(from);
  if (held + length < room) return memcpy(to + held, from, length + 1), EOK;
  if (room > 0) to[0] = 0;
  return 34;
}
// Returns the number of characters written, or -1 if the text does not fit or the format is wrong.
template <class... Values>
int sprintf_s(char* to, size_t room, const char* format, Values... values) {
  const int length = snprintf(to, room, format, values...);
  return length >= 0 && static_cast<size_t>(length) < room ? length : -1;
}
inline errno_t memset_s(void* to, size_t room, int value, size_t bytes) {
  if (bytes > room) return 34;
  memset(to, value, bytes);
  return EOK;
}
