// DataCopy with SliceInfo: copies parts of an array of up to eight dimensions between global memory and the Unified
// Buffer.
//
// Source: docs/zh/api, 数据搬运/DataCopy（GM与UB切片数据搬运）. Dimension 0 is the innermost: its parts have burstLen 32-byte
// blocks, with `stride` elements between two parts. In the other dimensions a part is one index, with `stride` indices
// between two parts. The parts of both sides are paired in order.
#pragma once
#include "gn_twin/basic_api/memory/data_copy.h"

namespace AscendC {

struct SliceInfo {
  uint32_t startIndex = 0;
  uint32_t endIndex = ONE_BLK_SIZE - 1;  // the last element of the last part
  uint32_t stride = 0;                   // gap between two parts
  uint32_t burstLen = ONE_BLK_SIZE;      // dimension 0: 32-byte blocks of a part; the others: 1
  uint32_t shapeValue = 0;               // length of the dimension

  constexpr SliceInfo() = default;
  constexpr SliceInfo(uint32_t start, uint32_t end, uint32_t gap, uint32_t blocks, uint32_t shape = 0)
      : startIndex(start), endIndex(end), stride(gap), burstLen(blocks), shapeValue(shape) {}
};

}  // namespace AscendC

namespace gn_twin {

inline constexpr uint32_t kMaxSliceDimensions = 8;

// One side of the copy: the number of parts in each dimension, and their offsets.
class Slices {
 public:
  Slices(const char* side, const AscendC::SliceInfo* info, uint32_t dimensions, uint32_t element_bytes, Loc loc)
      : info_(info) {
    uint64_t pitch = 1;
    for (uint32_t i = 0; i < dimensions; ++i) {
      const AscendC::SliceInfo& one = info[i];
      const uint64_t length = i == 0 ? uint64_t{one.burstLen} * kBlockBytes / element_bytes : 1;
      const uint64_t span = uint64_t{one.endIndex} - one.startIndex + 1 + one.stride;
      if (dimensions > kMaxSliceDimensions || one.endIndex < one.startIndex || one.endIndex > one.shapeValue ||
          length == 0 || (i > 0 && one.burstLen != 1) || span % (length + one.stride) != 0) {
        ThisCore().Stop("slice-info", loc,
                        {{"side", side},
                         {"dimension", i},
                         {"dimensions", dimensions},
                         {"start", one.startIndex},
                         {"end", one.endIndex},
                         {"stride", one.stride},
                         {"length", one.burstLen},
                         {"elements", length},
                         {"shape", one.shapeValue}});
      }
      parts_[i] = span / (length + one.stride);
      pitch_[i] = pitch;
      pitch *= one.shapeValue;
    }
  }
  uint64_t Parts(uint32_t dimension) const { return parts_[dimension]; }
  // Returns the element offset where the parts of dimension 0 begin, for the `row`-th combination of outer indices.
  uint64_t Begin(uint64_t row, uint32_t dimensions) const {
    uint64_t at = info_[0].startIndex;
    for (uint32_t i = 1; i < dimensions; ++i) {
      at += (info_[i].startIndex + row % parts_[i] * (1 + uint64_t{info_[i].stride})) * pitch_[i];
      row /= parts_[i];
    }
    return at;
  }
  Rows Inner(uint32_t element_bytes) const {
    const uint64_t bytes = uint64_t{info_[0].burstLen} * kBlockBytes;
    return {static_cast<uint32_t>(parts_[0]), bytes, bytes + uint64_t{info_[0].stride} * element_bytes};
  }

 private:
  const AscendC::SliceInfo* info_;
  uint64_t parts_[kMaxSliceDimensions] = {};
  uint64_t pitch_[kMaxSliceDimensions] = {};
};

// Calls copy(destination offset, destination rows, source offset, source rows) for each combination of the outer
// indices. The offsets count elements.
template <class T, class Copy>
void ForEachSlice(const AscendC::SliceInfo* dst, const AscendC::SliceInfo* src, uint32_t dimensions, Loc loc,
                  const Copy& copy) {
  const Slices to("destination", dst, dimensions, sizeof(T), loc);
  const Slices from("source", src, dimensions, sizeof(T), loc);
  uint64_t rows = 1;
  for (uint32_t i = 0; i < dimensions; ++i) {
    if (to.Parts(i) != from.Parts(i) || dst[i].burstLen != src[i].burstLen) {
      ThisCore().Stop("slice-pairs", loc,
                      {{"dimension", i},
                       {"destination", to.Parts(i)},
                       {"destination_length", dst[i].burstLen},
                       {"source", from.Parts(i)},
                       {"source_length", src[i].burstLen}});
    }
    if (i > 0) rows *= to.Parts(i);
  }
  for (uint64_t row = 0; row < rows; ++row)
    copy(to.Begin(row, dimensions), to.Inner(sizeof(T)), from.Begin(row, dimensions), from.Inner(sizeof(T)));
}

// Stops if the gaps in the Unified Buffer are not whole blocks. Every copy needs whole blocks there.
template <class T>
inline void RequireBlockGaps(const char* side, const AscendC::SliceInfo& info, Loc loc) {
  const uint64_t over = uint64_t{info.stride} * sizeof(T) % kBlockBytes;
  if (over != 0) ThisCore().Stop("slice-gap", loc, {{"side", side}, {"stride", info.stride}, {"over", over}});
}

}  // namespace gn_twin

namespace AscendC {

template <class T>
inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const SliceInfo dstSliceInfo[],
                     const SliceInfo srcSliceInfo[], const uint32_t dimValue = 1,
                     gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RequireBlockGaps<T>("destination", dstSliceInfo[0], loc);
  gn_twin::ForEachSlice<T>(dstSliceInfo, srcSliceInfo, dimValue, loc,
                           [&](uint64_t to, gn_twin::Rows to_rows, uint64_t from, gn_twin::Rows from_rows) {
                             gn_twin::CopyIn(loc, dst[static_cast<uint32_t>(to)], to_rows, src[from], from_rows);
                           });
}
template <class T>
inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const SliceInfo dstSliceInfo[],
                     const SliceInfo srcSliceInfo[], const uint32_t dimValue = 1,
                     gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RequireBlockGaps<T>("source", srcSliceInfo[0], loc);
  gn_twin::ForEachSlice<T>(dstSliceInfo, srcSliceInfo, dimValue, loc,
                           [&](uint64_t to, gn_twin::Rows to_rows, uint64_t from, gn_twin::Rows from_rows) {
                             gn_twin::CopyOut("DataCopy", loc, sizeof(T), dst[to], to_rows,
                                              src[static_cast<uint32_t>(from)], from_rows);
                           });
}

}  // namespace AscendC
