// The compare register: Compare into it, SetCmpMask and GetCmpMask, and the forms of Select that read it.
//
// Source: docs/zh/api, 比较与选择 (Compare with its result in a register, GetCmpMask, SetCmpMask, Select). The register has
// 128 bits, one per lane of a repeat. Bits of lanes that the mask excludes become 0 here; the documentation does not
// say what they become.
#pragma once
#include "gn_twin/basic_api/vector/compare.h"

namespace gn_twin {

// Returns the address that a kernel put into the register. Select in mode 2 reads its selection bits at this address.
// The address has 64 bits, as in CANN's CPU build.
inline const uint8_t* AddressInRegister(const Core& core) {
  return reinterpret_cast<const uint8_t*>(static_cast<uintptr_t>(core.compare_mask[0]));
}

// Returns the plan of a Select without a mask argument: the mask register of vector instructions selects the lanes.
template <class T>
Plan PlanOfSelect(RepeatTime repeats, Loc loc) {
  return PlanFromRegister(ThisCore(), kLanes<T>, repeats.Checked("Select", loc));
}

// Checks and computes a Select. `bits` are the register's bits, or the bits at the address in the register. Unlike
// RunSelect, this function gives no warnings, and does not overwrite scratch memory.
template <class T>
void SelectByBits(Loc loc, SELMODE mode, const Plan& plan, const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                  const LocalTensor<T>& src1, const AscendC::BinaryRepeatParams& params, const uint8_t* bits) {
  static_assert(kOneOf<T, half, float>, "Select on Atlas A2 takes half, float");
  const Strides to{params.dstBlkStride, params.dstRepStride};
  const Strides strides0{params.src0BlkStride, params.src0RepStride};
  const Strides strides1{params.src1BlkStride, params.src1RepStride};
  if constexpr (kObserved) {
    EmitOperation("Select", Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      AddLanes(operation, "dst", dst, plan, to, Access::Write);
      AddLanes(operation, "src0", src0, plan, strides0, Access::Read);
      AddLanes(operation, "src1", src1, plan, strides1, Access::Read);
      const uint64_t reach = uint64_t{plan.repeats} * kLanes<T> / 8;
      if (mode != SELMODE::VSEL_CMPMASK_SPR &&
          (!operation.core().InUb(bits) || !operation.core().InUb(bits + reach - 1)))
        operation.Stop("select-address", {});
      if (mode != SELMODE::VSEL_CMPMASK_SPR && plan.repeats > 0) {
        static constexpr uint32_t kWholeMask = 0;
        operation.Pieces("selMask", bits, &kWholeMask, 1, reach, Access::Read, 1);
      }
      return operation.Flows(Flow::Lanes).Emit(plan, sizeof(T));
    });
  }
  ChooseLanes<T>(mode, plan, dst, to, bits, src0, strides0, {src1, strides1});
}

}  // namespace gn_twin

namespace AscendC {

// Compares one repeat. Bit i of the register becomes src0[i] op src1[i].
template <class T, bool isSetMask = true, class Mask>
  requires gn_twin::kIsConstMask<Mask>
inline void Compare(const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode, Mask mask,
                    const BinaryRepeatParams& repeatParams, gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(gn_twin::kOneOf<T, half, float>, "Compare into the register takes half, float");
  gn_twin::Core& core = gn_twin::ThisCore();
  const gn_twin::Plan plan = gn_twin::MaskedPlan("Compare", loc, isSetMask, mask, gn_twin::kLanes<T>, 1u);
  const gn_twin::Strides strides0{repeatParams.src0BlkStride, repeatParams.src0RepStride};
  const gn_twin::Strides strides1{repeatParams.src1BlkStride, repeatParams.src1RepStride};
  if constexpr (gn_twin::kObserved) {
    gn_twin::EmitOperation("Compare", gn_twin::Kind::Vector, gn_twin::Pipe::V, loc, [&](gn_twin::Operation& operation) {
      AddLanes(operation, "src0", src0, plan, strides0, gn_twin::Access::Read);
      AddLanes(operation, "src1", src1, plan, strides1, gn_twin::Access::Read);
      return operation.Emit(plan, sizeof(T));
    });
  }
  if (plan.repeats == 0) return;
  const uint32_t lanes = plan.ReachIn(0);
  gn_twin::RepeatValues<T> a{}, b{};
  a.Load(src0.Data(), strides0, 0, lanes);
  b.Load(src1.Data(), strides1, 0, lanes);
  uint8_t bits[16] = {};
  gn_twin::CompareLanes({cmpMode, core.job->options.compare_nan != 0}, a, b, bits);
  __builtin_memcpy(core.compare_mask, bits, sizeof(bits));
  core.compare_mask[0] &= plan.prefix ? gn_twin::LeadingBits(lanes) : plan.low;
  core.compare_mask[1] &= !plan.prefix ? plan.high : lanes > 64 ? gn_twin::LeadingBits(lanes - 64) : 0;
}

// GetCmpMask copies the register's 16 bytes to a tensor; SetCmpMask copies a tensor's bytes to the register. The
// documentation of GetCmpMask asks for 128 bytes in dst.
template <class T>
inline void GetCmpMask(const LocalTensor<T>& dst, gn_twin::Loc loc = gn_twin::Loc::here()) {
  if constexpr (gn_twin::kObserved) {
    gn_twin::EmitOperation("GetCmpMask", gn_twin::Kind::Vector, gn_twin::Pipe::V, loc,
                           [&](gn_twin::Operation& operation) {
                             operation.Check("dst", dst, 128, 16);
                             operation.Local("dst", dst, 16, gn_twin::Access::Write, 16);
                             return operation.Emit(16 / sizeof(T), 1, sizeof(T));
                           });
  }
  __builtin_memcpy(dst.Bytes(), gn_twin::ThisCore().compare_mask, 16);
}
template <class T>
inline void SetCmpMask(const LocalTensor<T>& src, gn_twin::Loc loc = gn_twin::Loc::here()) {
  const uint64_t room = uint64_t{src.GetSize()} * sizeof(T);
  const uint64_t bytes = room < 16 ? room : 16;  // src may hold only a scalar for mode 1 or an address for mode 2
  if constexpr (gn_twin::kObserved) {
    gn_twin::EmitOperation("SetCmpMask", gn_twin::Kind::Vector, gn_twin::Pipe::V, loc,
                           [&](gn_twin::Operation& operation) {
                             operation.Local("src", src, bytes, gn_twin::Access::Read, 16);
                             return operation.Emit(bytes / sizeof(T), 1, sizeof(T));
                           });
  }
  gn_twin::Core& core = gn_twin::ThisCore();
  core.compare_mask[0] = core.compare_mask[1] = 0;
  __builtin_memcpy(core.compare_mask, src.Bytes(), bytes);
}

// Select in mode 0 uses the register's bits for every repeat, in mode 2 the bits at the address in the register.
template <class T, SELMODE selMode>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                   gn_twin::RepeatTime repeatTime, const BinaryRepeatParams& repeatParams,
                   gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(selMode != SELMODE::VSEL_TENSOR_SCALAR_MODE, "Select with a scalar takes its bits from a tensor");
  const gn_twin::Core& core = gn_twin::ThisCore();
  uint8_t bits[16];
  __builtin_memcpy(bits, core.compare_mask, 16);
  gn_twin::SelectByBits(loc, selMode, gn_twin::PlanOfSelect<T>(repeatTime, loc), dst, src0, src1, repeatParams,
                        selMode == SELMODE::VSEL_CMPMASK_SPR ? bits : gn_twin::AddressInRegister(core));
}
// Select in mode 1 takes the bits from a tensor and the scalar from the register.
template <class T, class U>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
                   gn_twin::RepeatTime repeatTime, const BinaryRepeatParams& repeatParams,
                   gn_twin::Loc loc = gn_twin::Loc::here()) {
  T scalar;
  __builtin_memcpy(&scalar, gn_twin::ThisCore().compare_mask, sizeof(T));
  gn_twin::RunSelect<T, U>(loc, SELMODE::VSEL_TENSOR_SCALAR_MODE, gn_twin::PlanOfSelect<T>(repeatTime, loc), dst,
                           {repeatParams.dstBlkStride, repeatParams.dstRepStride}, selMask, src0,
                           {repeatParams.src0BlkStride, repeatParams.src0RepStride}, scalar);
}

}  // namespace AscendC
