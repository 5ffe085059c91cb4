// The tiling structs that a project's host files register (REGISTER_TILING_DATA_CLASS), and the byte that fills a new
// struct. The byte is zero, as in CANN. A second run uses another byte, to find fields that were never set.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <string>
#include <vector>

namespace gn_twin::op_host {

struct TilingClass {
  std::string op, name;
  size_t bytes;
};
inline std::vector<TilingClass>& TilingClasses() {
  static std::vector<TilingClass> classes;
  return classes;
}
// Adds a struct; returns false if it was added before. A header that several files include registers its struct in each
// file.
inline bool AddTilingClass(const char* op, const char* name, size_t bytes) {
  for (const TilingClass& one : TilingClasses()) {
    if (one.op == op && one.name == name) return false;
  }
  TilingClasses().push_back({op, name, bytes});
  return true;
}

inline uint8_t& FillByte() {
  static uint8_t byte = 0;
  return byte;
}

}  // namespace gn_twin::op_host
