// The observer that counts instructions per pipe and the bytes moved between global memory and the Unified Buffer.
#pragma once
#include "gn_twin/core/core.h"

namespace gn_twin {

class Counters final : public Observer {
 public:
  explicit Counters(GntTally& sums) : sums_(sums) {}

  Kinds Wants() const override { return KindsOf(Kind::Vector, Kind::Copy); }
  void OnEvent(Core&, const Event& event) override {
    OnInstructions(event.pipe, 1);
    if (event.kind != Kind::Copy) return;
    for (uint8_t i = 0; i < event.operands; ++i) {
      const Operand& operand = event.operand[i];
      if (operand.space == Space::GM) OnBytes(operand.access == Access::Read, operand.rows * operand.row_bytes);
    }
  }
  void OnScalars(Core&, const ScalarAccess*, uint32_t count) override { OnInstructions(Pipe::S, count); }
  void OnLoads(Core&, uint64_t count) override { OnInstructions(Pipe::S, count); }
  void OnStores(Core&, const ScalarAccess& first, const uint8_t* end) override {
    OnInstructions(Pipe::S, static_cast<uint64_t>(end - first.at) / first.bytes);
  }

  void OnInstructions(Pipe pipe, uint64_t count) { sums_.instructions[static_cast<int>(pipe)] += count; }
  // Counts the bytes of a copy into the Unified Buffer (`in`) or out of it.
  void OnBytes(bool in, uint64_t bytes) { (in ? sums_.bytes_in : sums_.bytes_out) += bytes; }
  void OnCopy(const FastCopy& copy) {
    OnInstructions(copy.pipe, 1);
    OnBytes(copy.IsLoad(), copy.rows * copy.row_bytes);
  }

 private:
  GntTally& sums_;
};

}  // namespace gn_twin
