// Functions that choose elements by a mask. Select: the mask has an integer for each element, a byte or wider. DropOut:
// it has a byte or a bit for each element.
//
// Source: docs/zh/api, 高阶API/数据过滤. The mask's rows may be longer than the data's; the excess is skipped.
#pragma once
#include "gn_twin/adv_api/matrix.h"

namespace AscendC {

struct SelectWithBytesMaskShapeInfo {
  uint32_t firstAxis = 0;     // rows of data and mask
  uint32_t srcLastAxis = 0;   // elements of a row of data
  uint32_t maskLastAxis = 0;  // elements of a row of the mask
};
struct DropOutShapeInfo {
  uint32_t firstAxis = 0;
  uint32_t srcLastAxis = 0;
  uint32_t maskLastAxis = 0;
};

}  // namespace AscendC

namespace gn_twin {

// Sets dst[i] to first(i) where the mask is 0, to second(i) elsewhere. One of the functions returns a constant scalar.
template <class T, class U, class First, class Second>
void RunSelectBytes(Loc loc, const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<U>& mask,
                    const AscendC::SelectWithBytesMaskShapeInfo& info, First first, Second second) {
  static_assert(kOneOf<T, half, float>, "Select with a byte mask on Atlas A2 takes half, float");
  static_assert(kOneOf<U, bool, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t>, "the mask is of integers");
  const Matrix data{info.firstAxis, info.srcLastAxis, info.srcLastAxis};
  const Matrix chosen{info.firstAxis, info.maskLastAxis, info.srcLastAxis};
  if constexpr (kObserved) {
    EmitOperation("Select", Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      RequireMatrix(operation, "Select", data, sizeof(T));
      RequireMatrix(operation, "Select", chosen, sizeof(U));
      operation.Local("dst", dst, data.Elements() * sizeof(T), Access::Write);
      operation.Local("src", src, data.Elements() * sizeof(T), Access::Read);
      operation.Local("mask", mask, chosen.Elements() * sizeof(U), Access::Read);
      return operation.Emit(data.Elements(), RepeatsOf(data.Elements(), sizeof(T)), sizeof(T));
    });
  }
  for (uint32_t row = 0; row < data.rows; ++row) {
    for (uint32_t column = 0; column < data.columns; ++column) {
      const uint64_t at = data.At(row, column);
      dst.Data()[at] = mask.Data()[chosen.At(row, column)] == U(0) ? first(at) : second(at);
    }
  }
  ResetMaskRegister(ThisCore());
}

// Returns true if the mask of DropOut has a byte per element (modes 1 and 2), false if it has a bit (modes 3 and 4). In
// modes 1 and 4, each mask row ends in unused bytes. In mode 0 the lengths decide: the mask has bytes if its rows are
// at least as long as the data rows.
inline bool DropOutReadsBytes(uint32_t mode, const AscendC::DropOutShapeInfo& info) {
  return mode == 0 ? info.maskLastAxis >= info.srcLastAxis : mode <= 2;
}

template <class T, uint32_t kMode>
void RunDropOut(Loc loc, const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>& mask,
                float keep, const AscendC::DropOutShapeInfo& info) {
  static_assert(kOneOf<T, half, float>, "DropOut on Atlas A2 takes half, float");
  static_assert(kMode <= 4, "dropOutMode is 0 to 4");
  const Matrix data{info.firstAxis, info.srcLastAxis, info.srcLastAxis};
  const bool bytes = DropOutReadsBytes(kMode, info);
  const uint64_t mask_bytes = uint64_t{info.firstAxis} * info.maskLastAxis;
  if constexpr (kObserved) {
    EmitOperation("DropOut", Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      RequireMatrix(operation, "DropOut", data, sizeof(T));
      if (info.maskLastAxis * uint64_t{bytes ? 1u : 8u} < info.srcLastAxis) {
        operation.Stop("dropout-mask",
                       {{"mask", info.maskLastAxis}, {"src", info.srcLastAxis}, {"bits", bytes ? 1 : 8}});
      }
      operation.Local("dst", dst, data.Elements() * sizeof(T), Access::Write);
      operation.Local("src", src, data.Elements() * sizeof(T), Access::Read);
      operation.Local("mask", mask, mask_bytes, Access::Read);
      return operation.Emit(data.Elements(), RepeatsOf(data.Elements(), sizeof(T)), sizeof(T));
    });
  }
  const Rounder rounder(ThisCore());
  for (uint32_t row = 0; row < data.rows; ++row) {
    const uint8_t* line = mask.Data() + uint64_t{row} * info.maskLastAxis;
    for (uint32_t column = 0; column < data.columns; ++column) {
      const bool kept = bytes ? line[column] != 0 : (line[column / 8] >> (column % 8) & 1) != 0;
      const uint64_t at = data.At(row, column);
      dst.Data()[at] = kept ? rounder.To<T>(Wide(src.Data()[at]) / Wide(keep)) : T(0.0f);
    }
  }
  ResetMaskRegister(ThisCore());
}

}  // namespace gn_twin

namespace AscendC {

// SelectWithBytesMask is the name of this Select in 8.x.
#define GNT_SELECT_BYTES(NAME)                                                                                     \
  template <class T, class U, bool isReuseMask = true>                                                             \
  inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src0, T src1, const LocalTensor<U>& mask,      \
                   const gn_twin::Scratch&, const SelectWithBytesMaskShapeInfo& info,                              \
                   gn_twin::Loc loc = gn_twin::Loc::here()) {                                                      \
    gn_twin::RunSelectBytes(                                                                                       \
        loc, dst, src0, mask, info, [&](uint64_t at) { return src0.Data()[at]; }, [&](uint64_t) { return src1; }); \
  }                                                                                                                \
  template <class T, class U, bool isReuseMask = true>                                                             \
  inline void NAME(const LocalTensor<T>& dst, T src0, const LocalTensor<T>& src1, const LocalTensor<U>& mask,      \
                   const gn_twin::Scratch&, const SelectWithBytesMaskShapeInfo& info,                              \
                   gn_twin::Loc loc = gn_twin::Loc::here()) {                                                      \
    gn_twin::RunSelectBytes(                                                                                       \
        loc, dst, src1, mask, info, [&](uint64_t) { return src0; }, [&](uint64_t at) { return src1.Data()[at]; }); \
  }
GNT_SELECT_BYTES(Select)
GNT_SELECT_BYTES(SelectWithBytesMask)
#undef GNT_SELECT_BYTES

// Divides the elements that the mask keeps by keepProb, and sets the others to 0. dst may be src.
template <class T, bool isInitBitMode = false, uint32_t dropOutMode = 0>
inline void DropOut(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,
                    const LocalTensor<uint8_t>& maskLocal, const float keepProb, const DropOutShapeInfo& info,
                    gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunDropOut<T, dropOutMode>(loc, dstLocal, srcLocal, maskLocal, keepProb, info);
}
template <class T, bool isInitBitMode = false, uint32_t dropOutMode = 0>
inline void DropOut(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,
                    const LocalTensor<uint8_t>& maskLocal, const gn_twin::Scratch&, const float keepProb,
                    const DropOutShapeInfo& info, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunDropOut<T, dropOutMode>(loc, dstLocal, srcLocal, maskLocal, keepProb, info);
}

}  // namespace AscendC
