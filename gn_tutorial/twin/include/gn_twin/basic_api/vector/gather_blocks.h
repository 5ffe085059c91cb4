// Gatherb: collects 32-byte blocks.
//
// Source: docs/zh/api, 离散与聚合/Gatherb. A repeat takes eight offsets, in bytes. The mask has no effect.
#pragma once
#include "gn_twin/basic_api/vector/forms.h"

namespace AscendC {

struct GatherRepeatParams {
  uint8_t dstBlkStride = 1;  // 0 counts as 1
  uint8_t dstRepStride = 8;

  constexpr GatherRepeatParams() = default;
  constexpr GatherRepeatParams(uint8_t dst_blk, uint8_t dst_rep) : dstBlkStride(dst_blk), dstRepStride(dst_rep) {}
};

template <class T>
inline void Gatherb(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint32_t>& offset,
                    const gn_twin::RepeatTime repeatTime, const GatherRepeatParams& repeatParams,
                    gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(gn_twin::kOneOf<T, uint16_t, uint32_t>, "Gatherb on Atlas A2 takes uint16_t, uint32_t");
  const uint32_t repeats = repeatTime.Checked("Gatherb", loc);
  gn_twin::Plan plan;
  plan.repeats = repeats;
  plan.lanes = plan.first = plan.last = gn_twin::kLanes<T>;
  const gn_twin::Strides to{repeatParams.dstBlkStride == 0 ? 1u : repeatParams.dstBlkStride, repeatParams.dstRepStride};
  const uint32_t blocks = repeats * gn_twin::kBlocksPerRepeat;
  if constexpr (gn_twin::kObserved) {
    gn_twin::EmitOperation("Gatherb", gn_twin::Kind::Vector, gn_twin::Pipe::V, loc, [&](gn_twin::Operation& operation) {
      const uint64_t room = uint64_t{src.GetSize()} * sizeof(T);
      AddLanes(operation, "dst", dst, plan, to, gn_twin::Access::Write);
      operation.Local("offset", offset, uint64_t{blocks} * sizeof(uint32_t), gn_twin::Access::Read);
      for (uint32_t i = 0; i < blocks; ++i) {
        const uint64_t at = offset.Data()[i];
        if (at % gn_twin::kBlockBytes == 0 && at + gn_twin::kBlockBytes <= room) continue;
        operation.Stop("gatherb-offset", {{"index", i}, {"offset", at}, {"room", room}});
      }
      if (blocks != 0) operation.Check("src", src, gn_twin::kBlockBytes);
      operation.Pieces("src", src.Bytes(), offset.Data(), blocks, gn_twin::kBlockBytes, gn_twin::Access::Read,
                       sizeof(T));
      return operation.Emit(plan, sizeof(T));
    });
  }
  for (uint32_t i = 0; i < blocks; ++i) {
    const uint32_t lane = i % gn_twin::kBlocksPerRepeat * (gn_twin::kBlockBytes / sizeof(T));
    __builtin_memmove(dst.Data() + gn_twin::LaneIndex<T>(to, i / gn_twin::kBlocksPerRepeat, lane),
                      src.Bytes() + offset.Data()[i], gn_twin::kBlockBytes);
  }
  gn_twin::ThisCore().mask.low = gn_twin::ThisCore().mask.high = ~uint64_t{0};  // the mask mode stays
}

}  // namespace AscendC
