// The sorting functions of the high-level API: Sort, Concat, Extract, TopK.
//
// Source: docs/zh/api, 高阶API/排序操作.
#pragma once
#include "gn_twin/adv_api/wide_compute.h"
#include "gn_twin/base/adv_tiling.h"
#include "gn_twin/basic_api/vector/sort.h"

namespace AscendC {

enum class SortType { RADIX_SORT, MERGE_SORT };
struct SortConfig {
  SortType type = SortType::RADIX_SORT;
  bool isDescend = false;
};
struct TopKInfo {
  int32_t outter = 1;  // rows
  int32_t inner = 0;   // row stride in elements, a multiple of 32
  int32_t n = 0;       // elements of a row that are data
};

// Prepares scores for Sort. Atlas A2 sorts scores where they are, so the prepared tensor is the source.
template <class T>
inline void Concat(LocalTensor<T>& concat, const LocalTensor<T>& src, const LocalTensor<T>&, const int32_t repeatTime,
                   gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(gn_twin::kOneOf<T, half, float>, "Concat on Atlas A2 takes half, float");
  gn_twin::RequireRepeats("Concat", repeatTime, gn_twin::kMaxRepeats, loc);
  concat = src;
}

// Writes 32 * repeatTime scores and indices as pairs, largest first: sorted as a whole (isFullSort) or 32 at a time.
template <class T, bool isFullSort>
inline void Sort(const LocalTensor<T>& dst, const LocalTensor<T>& concat, const LocalTensor<uint32_t>& index,
                 LocalTensor<T>& tmp, const int32_t repeatTime, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RequireRepeats("Sort", repeatTime, gn_twin::kMaxRepeats, loc);
  const uint32_t count = 32 * static_cast<uint32_t>(repeatTime);
  gn_twin::CheckSort("Sort", loc, dst, concat, index, count);
  gn_twin::SortInto(dst.Data(), concat.Data(), index.Data(), count, isFullSort ? count : 32);
}

// Splits sorted pairs, 32 per repeat, into scores and indices.
template <class T>
inline void Extract(const LocalTensor<T>& dstValue, const LocalTensor<uint32_t>& dstIndex, const LocalTensor<T>& sorted,
                    const int32_t repeatTime, gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(gn_twin::kOneOf<T, half, float>, "Extract on Atlas A2 takes half, float");
  gn_twin::RequireRepeats("Extract", repeatTime, gn_twin::kMaxRepeats, loc);
  const uint32_t count = 32 * static_cast<uint32_t>(repeatTime);
  if constexpr (gn_twin::kObserved) {
    gn_twin::EmitOperation("Extract", gn_twin::Kind::Vector, gn_twin::Pipe::V, loc, [&](gn_twin::Operation& operation) {
      operation.Local("dstValue", dstValue, uint64_t{count} * sizeof(T), gn_twin::Access::Write);
      operation.Local("dstIndex", dstIndex, 4ull * count, gn_twin::Access::Write);
      operation.Local("sorted", sorted, 8ull * count, gn_twin::Access::Read);
      return operation.Emit(count, static_cast<uint32_t>(repeatTime), 4);
    });
  }
  const gn_twin::Pairs<T> pairs(sorted.Data());
  for (uint32_t i = 0; i < count; ++i) {
    const T score = pairs.Score(i);
    dstIndex.Data()[i] = pairs.Index(i);
    dstValue.Data()[i] = score;
  }
}

// GetSortOffset and GetSortLen return the offset and length of sorted pairs in elements of T. The documentation says
// bytes, but the public headers, and kernels that index a tensor with the results, count elements.
template <class T>
inline uint32_t GetSortOffset(const uint32_t elemOffset) {
  return elemOffset * gn_twin::Pairs<T>::kElements;
}
template <class T>
inline uint32_t GetSortLen(const uint32_t elemCount) {
  return elemCount * gn_twin::Pairs<T>::kElements;
}

}  // namespace AscendC

namespace gn_twin {

// Writes the k largest or smallest elements of each row, padding included, and their indices: those in src_index, if
// kGivenIndex is set, else the places in the row. TOPK_NORMAL: rows of results begin at multiples of 32 bytes, and all
// rows share one list in src_index. TOPK_NSMALL: rows have 32 elements, the results have no gaps, and every row has
// indices of its own in src_index. A row that `finish` marks gets the index n for all its results.
template <class T, bool kGivenIndex, bool kFinish, bool kSmall>
void RunTopK(Loc loc, const LocalTensor<T>& value, const LocalTensor<int32_t>& index, const LocalTensor<T>& src,
             const LocalTensor<int32_t>& src_index, const LocalTensor<bool>& finish, int32_t k,
             const AscendC::TopKInfo& info, bool largest) {
  static_assert(kOneOf<T, half, float>, "TopK on Atlas A2 takes half, float");
  const uint32_t rows = static_cast<uint32_t>(info.outter);
  const uint32_t inner = static_cast<uint32_t>(info.inner);
  const uint32_t per_block = kBlockBytes / sizeof(T);
  const uint32_t kept = static_cast<uint32_t>(k);
  const uint32_t value_step = kSmall ? kept : (kept + per_block - 1) / per_block * per_block;
  const uint32_t index_step = kSmall ? kept : (kept + 7) / 8 * 8;
  const uint64_t elements = uint64_t{rows} * inner;
  if constexpr (kObserved) {
    EmitOperation("TopK", Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      if ((kSmall && kFinish) || info.inner < 32 || inner % 32 != 0 || k < 1 || k > info.n || info.n > info.inner ||
          (kSmall ? inner != 32 : inner > 4096) || info.outter < 1) {
        operation.Stop("topk-shape", {{"k", k}, {"n", info.n}, {"inner", info.inner}, {"rows", info.outter}});
      }
      operation.Local("dstValueLocal", value, ((rows - 1ull) * value_step + kept) * sizeof(T), Access::Write);
      operation.Local("dstIndexLocal", index, ((rows - 1ull) * index_step + kept) * 4, Access::Write);
      operation.Local("srcLocal", src, elements * sizeof(T), Access::Read);
      if constexpr (kGivenIndex) {
        operation.Local("srcIndexLocal", src_index, 4ull * (kSmall ? elements : inner), Access::Read);
      }
      if constexpr (kFinish) operation.Local("finishLocal", finish, rows, Access::Read);
      return operation.Emit(elements, static_cast<uint32_t>(elements / 32), sizeof(T));
    });
  }
  uint64_t* pairs_memory = new uint64_t[inner];
  T* scores = new T[inner];
  uint32_t* places = new uint32_t[inner];
  const Pairs<T> pairs(reinterpret_cast<T*>(pairs_memory));
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t i = 0; i < inner; ++i) {
      const T score = src.Data()[uint64_t{row} * inner + i];
      scores[i] = largest ? score : T(-static_cast<float>(score));
      places[i] = kGivenIndex ? static_cast<uint32_t>(src_index.Data()[(kSmall ? uint64_t{row} * inner : 0) + i]) : i;
    }
    SortInto(reinterpret_cast<T*>(pairs_memory), scores, places, inner, inner);
    const bool finished = kFinish && finish.Data()[row];
    for (uint32_t i = 0; i < kept; ++i) {
      const T score = pairs.Score(i);
      value.Data()[uint64_t{row} * value_step + i] = largest ? score : T(-static_cast<float>(score));
      index.Data()[uint64_t{row} * index_step + i] = finished ? info.n : static_cast<int32_t>(pairs.Index(i));
    }
  }
  delete[] places;
  delete[] scores;
  delete[] pairs_memory;
}

}  // namespace gn_twin

namespace AscendC {

#define GNT_TOPK(SCRATCH)                                                                                            \
  template <class T, bool isInitIndex = false, bool isHasfinish = false, bool isReuseSrc = false,                    \
            enum TopKMode topkMode = TopKMode::TOPK_NORMAL>                                                          \
  inline void TopK(const LocalTensor<T>& dstValueLocal, const LocalTensor<int32_t>& dstIndexLocal,                   \
                   const LocalTensor<T>& srcLocal, const LocalTensor<int32_t>& srcIndexLocal,                        \
                   const LocalTensor<bool>& finishLocal, SCRATCH const int32_t k, const TopkTiling&,                 \
                   const TopKInfo& topKInfo, const bool isLargest = true, gn_twin::Loc loc = gn_twin::Loc::here()) { \
    gn_twin::RunTopK<T, isInitIndex, isHasfinish, topkMode == TopKMode::TOPK_NSMALL>(                                \
        loc, dstValueLocal, dstIndexLocal, srcLocal, srcIndexLocal, finishLocal, k, topKInfo, isLargest);            \
  }
GNT_TOPK()
GNT_TOPK(GNT_WITH_SCRATCH)
#undef GNT_TOPK

}  // namespace AscendC
