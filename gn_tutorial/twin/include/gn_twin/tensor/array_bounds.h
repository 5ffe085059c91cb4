// What the compiler calls for an index outside an array of the kernel's own, such as a local one.
//
// It is the call of -fsanitize=bounds, whose own library is not linked. The compiler assumes that the function throws
// nothing, so a finding here does not end the launch, and the access that follows may damage the block's stack.
#pragma once
#include "gn_twin/core/core.h"

namespace gn_twin {

// The types of an array and of its index: a name like 'float [8]'; of an integer, the sign and the number of bits.
struct BoundsType {
  uint16_t kind;
  uint16_t info;
  char name[1];
};
struct OutsideArray {
  const char* file;
  uint32_t line;
  uint32_t column;
  const BoundsType* array;
  const BoundsType* index;
};

GNT_COLD inline void ReportOutsideArray(const OutsideArray& where, uint64_t given) {
  Core* const core = current_core;
  if (core == nullptr) return;
  const uint32_t bits = 1u << (where.index->info >> 1);
  const bool is_signed = (where.index->info & 1) != 0;
  const uint32_t unused = bits < 64 ? 64 - bits : 0;
  const int64_t index =
      is_signed ? static_cast<int64_t>(given << unused) >> unused : static_cast<int64_t>(given << unused >> unused);
  uint64_t elements = 0;
  const char* at = where.array->name;
  while (*at != '\0' && *at != '[') ++at;
  while (*at != '\0' && *++at >= '0' && *at <= '9') elements = elements * 10 + static_cast<uint64_t>(*at - '0');
  core->FlushScalars();
  core->Fault("array-index", {where.file, where.line}, {}, {{"index", index}, {"elements", elements}});
}

}  // namespace gn_twin

extern "C" [[gnu::visibility("hidden"), gnu::used]] inline void __ubsan_handle_out_of_bounds(
    const gn_twin::OutsideArray* where, uint64_t index) {
  gn_twin::ReportOutsideArray(*where, index);
}
