// The warning for integer indices that an instruction uses as floats. A reduction or a sort writes pairs of a value and
// its index, and the instruction computes with both.
#pragma once
#include "gn_twin/tensor/operand.h"

namespace gn_twin {

// Whether the indices still look like indices: all are small, and at least one is not 0 (index 0 has the bits of 0.0).
GNT_COLD inline bool HoldsIndices(const PairResults& pairs) {
  constexpr uint32_t kMost = 1 << 16;  // a float with smaller bits would be very near 0
  bool any = false;
  for (uint32_t i = 0; i < pairs.count; ++i) {
    uint32_t index = 0;
    __builtin_memcpy(&index, pairs.at + uint64_t{i + 1} * pairs.pair_bytes - pairs.index_bytes, pairs.index_bytes);
    if (index >= (pairs.index_bytes == 2 ? 128 : kMost)) return false;
    any = any || index != 0;
  }
  return any;
}

// Warns if the first `bytes` bytes of a tensor of floats contain indices. The instruction computes with all of these
// bytes.
GNT_COLD inline void WarnOfIndices(Operation& operation, const char* op, const char* role, const RawTensor& tensor,
                                   uint64_t bytes) {
  for (const PairResults& pairs : operation.core().pair_results) {
    if (pairs.at == nullptr || tensor.at >= pairs.at + uint64_t{pairs.count} * pairs.pair_bytes) continue;
    const uint8_t* const first = pairs.at + pairs.pair_bytes - pairs.index_bytes;
    if (tensor.at + bytes <= first || !HoldsIndices(pairs)) continue;
    operation.Warn("index-as-value", {{"op", op},
                                      {"role", role},
                                      {"other_op", pairs.op},
                                      {"other_file", pairs.loc.file},
                                      {"other_line", pairs.loc.line}});
  }
}

}  // namespace gn_twin
