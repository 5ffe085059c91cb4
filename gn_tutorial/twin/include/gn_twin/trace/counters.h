// The observer that counts: instructions per pipe and the bytes that crossed between global memory and the Unified Buffer.
#pragma once
#include "gn_twin/core/core.h"

namespace gn_twin {

class Tally final : public Observer {
 public:
  explicit Tally(GntTally& sums) : sums_(sums) {}

  Kinds Wants() const override { return KindsOf(Kind::Vector, Kind::Copy); }
  void OnEvent(Core&, const Event& event) override {
    ++sums_.instructions[static_cast<int>(event.pipe)];
    if (event.kind != Kind::Copy) return;
    for (uint8_t i = 0; i < event.operands; ++i) {
      const Operand& operand = event.operand[i];
      if (operand.space != Space::GM) continue;
      (operand.access == Access::Read ? sums_.bytes_in : sums_.bytes_out) += operand.rows * operand.row_bytes;
    }
  }
  void OnScalars(Core&, const ScalarAccess*, uint32_t count) override {
    sums_.instructions[static_cast<int>(Pipe::S)] += count;
  }
  void OnLoads(Core&, uint64_t count) override { sums_.instructions[static_cast<int>(Pipe::S)] += count; }
  void OnStores(Core&, const ScalarAccess& first, const uint8_t* end) override {
    sums_.instructions[static_cast<int>(Pipe::S)] += static_cast<uint64_t>(end - first.at) / first.bytes;
  }

 private:
  GntTally& sums_;
};

}  // namespace gn_twin
