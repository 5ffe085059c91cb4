// Sorting in descending order: Sort32 makes sorted groups of 32 (score, index) pairs, MrgSort merges up to four sorted
// queues.
//
// A pair takes 8 bytes: the index in the upper four, the score in the lower four (float) or the lowest two (half, whose
// other two bytes keep their contents). Equal scores keep their order. Source: docs/zh/api, Memory矢量计算/排序组合 and
// 高阶API/排序操作.
#pragma once
#include "gn_twin/basic_api/vector/reduce.h"

namespace AscendC {

template <class T>
struct MrgSortSrcList {
  MrgSortSrcList() = default;
  MrgSortSrcList(const LocalTensor<T>& one, const LocalTensor<T>& two, const LocalTensor<T>& three,
                 const LocalTensor<T>& four)
      : src1(one), src2(two), src3(three), src4(four) {}
  LocalTensor<T> src1;
  LocalTensor<T> src2;
  LocalTensor<T> src3;
  LocalTensor<T> src4;
};

struct MrgSort4Info {
  MrgSort4Info() = default;
  MrgSort4Info(const uint16_t lengths[4], bool exhausted_suspension, uint16_t valid, uint16_t repeats)
      : ifExhaustedSuspension(exhausted_suspension), validBit(valid), repeatTimes(repeats) {
    for (uint32_t i = 0; i < 4; ++i) elementLengths[i] = lengths[i];
  }
  uint16_t elementLengths[4] = {};  // pairs in each queue
  bool ifExhaustedSuspension = false;
  uint16_t validBit = 0;  // 3, 7 or 15: the first two, three or four queues
  uint16_t repeatTimes = 1;
};

}  // namespace AscendC

namespace gn_twin {

// Pairs of score and index, as they lie in memory. T: half or float.
template <class T>
class Pairs {
 public:
  static constexpr uint32_t kElements = 8 / sizeof(T);  // of T in one pair

  explicit Pairs(T* at) : at_(at) {}
  T Score(uint32_t i) const { return at_[uint64_t{i} * kElements]; }
  uint32_t Index(uint32_t i) const {
    uint32_t index;
    __builtin_memcpy(&index, reinterpret_cast<const uint8_t*>(at_) + 8ull * i + 4, 4);
    return index;
  }
  void Set(uint32_t i, T score, uint32_t index) const {
    at_[uint64_t{i} * kElements] = score;
    __builtin_memcpy(reinterpret_cast<uint8_t*>(at_) + 8ull * i + 4, &index, 4);
  }

 private:
  T* at_;
};

// Whether score `a` comes before score `b`. NaN comes first, as in the documentation of TopK.
template <class T>
bool SortsBefore(T a, T b) {
  const float left = static_cast<float>(a);
  const float right = static_cast<float>(b);
  return left > right || (left != left && right == right);
}

// Sorts `count` pairs by merging. `spare` is work memory for `count` pairs. Each pass halves the number of sorted runs.
// The result is in the memory of `pairs` after an even number of passes, else in the memory of `spare`.
template <class T>
void SortPairs(Pairs<T> pairs, Pairs<T> spare, uint32_t count) {
  for (uint32_t width = 1; width < count; width *= 2) {
    for (uint32_t begin = 0; begin < count; begin += 2 * width) {
      const uint32_t middle = begin + width < count ? begin + width : count;
      const uint32_t end = begin + 2 * width < count ? begin + 2 * width : count;
      uint32_t left = begin;
      uint32_t right = middle;
      for (uint32_t at = begin; at < end; ++at) {
        const bool take_right = left == middle || (right < end && SortsBefore(pairs.Score(right), pairs.Score(left)));
        const uint32_t from = take_right ? right++ : left++;
        spare.Set(at, pairs.Score(from), pairs.Index(from));
      }
    }
    const Pairs<T> sorted = spare;
    spare = pairs;
    pairs = sorted;
  }
}

// Writes the pairs of `count` scores and indices into dst, sorted `group` at a time.
template <class T>
void SortInto(T* dst, const T* score, const uint32_t* index, uint32_t count, uint32_t group) {
  uint64_t* work = new uint64_t[2ull * (group > 0 ? group : 1)]();
  const Pairs<T> out(dst);
  for (uint32_t begin = 0; begin < count; begin += group) {
    const uint32_t here = count - begin < group ? count - begin : group;
    const Pairs<T> pairs(reinterpret_cast<T*>(work));
    for (uint32_t i = 0; i < here; ++i) pairs.Set(i, score[begin + i], index[begin + i]);
    uint32_t passes = 0;
    for (uint32_t width = 1; width < here; width *= 2) ++passes;
    SortPairs(pairs, Pairs<T>(reinterpret_cast<T*>(work + group)), here);
    const Pairs<T> sorted(reinterpret_cast<T*>(passes % 2 == 0 ? work : work + group));
    for (uint32_t i = 0; i < here; ++i) out.Set(begin + i, sorted.Score(i), sorted.Index(i));
  }
  delete[] work;
}

template <class T>
constexpr Extent PairsOf(uint64_t count) {
  return {Extent::Form::Pairs, sizeof(T), count};
}

template <class T>
void CheckSort(const char* name, Loc loc, const LocalTensor<T>& dst, const LocalTensor<T>& score,
               const LocalTensor<uint32_t>& index, uint32_t count) {
  static_assert(kOneOf<T, half, float>, "sorting on Atlas A2 takes half, float");
  if constexpr (kObserved) {
    EmitOperation(name, Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      operation.Made(PairsOf<T>(count)).Local("dst", dst, PairsOf<T>(count).Bytes(), Access::Write);
      operation.Local("src0", score, uint64_t{count} * sizeof(T), Access::Read);
      operation.Local("src1", index, 4ull * count, Access::Read);
      return operation.Emit(count, count / 32, 4);
    });
    ThisCore().NotePairs({dst.Bytes(), count, 8, 4, name, loc});
  }
}

// Merges the queues and calls take(output index, queue, pair) for each pair. A queue of length 0 takes no part. With
// `suspend` the merge ends when one queue is used up. done: number of pairs taken from each queue.
template <class T, class Take>
void MergeQueues(const Pairs<T> (&queue)[4], const uint32_t (&length)[4], bool suspend, uint32_t (&done)[4],
                 Take take) {
  uint32_t left = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    done[i] = 0;
    left += length[i];
  }
  for (uint32_t at = 0; at < left; ++at) {
    uint32_t best = 4;
    for (uint32_t i = 0; i < 4; ++i) {
      if (done[i] == length[i]) continue;
      if (best == 4 || SortsBefore(queue[i].Score(done[i]), queue[best].Score(done[best]))) best = i;
    }
    take(at, queue[best], done[best]);
    if (++done[best] == length[best] && suspend) break;
  }
}

template <class T>
void RunMerge(Loc loc, const LocalTensor<T>& dst, const AscendC::MrgSortSrcList<T>& list, const uint16_t lengths[4],
              uint16_t valid, uint32_t repeats, bool suspend) {
  static_assert(kOneOf<T, half, float>, "MrgSort on Atlas A2 takes half, float");
  Core& core = ThisCore();
  const LocalTensor<T>* const tensors[] = {&list.src1, &list.src2, &list.src3, &list.src4};
  uint32_t length[4];
  uint32_t total = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    length[i] = (valid >> i & 1) != 0 ? lengths[i] : 0;
    total += length[i];
  }
  // Several repeats need four contiguous queues of equal length, without suspension. Otherwise there is one merge.
  bool repeatable = valid == 15 && !suspend;
  for (uint32_t i = 1; i < 4 && repeatable; ++i) {
    repeatable = length[i] == length[0] && tensors[i]->Data() == tensors[0]->Data() + i * length[0] * (8 / sizeof(T));
  }
  if (!repeatable && repeats > 1) repeats = 1;
  if constexpr (kObserved) {
    uint32_t merged = total * repeats;
    EmitOperation("MrgSort", Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      if (valid != 3 && valid != 7 && valid != 15) operation.Stop("merge-valid", {{"valid", valid}});
      const char* const roles[] = {"src1", "src2", "src3", "src4"};
      const auto pairs_of = [&](uint32_t i) { return length[i] * (i == 0 && repeatable ? 4 * repeats : 1); };
      const auto for_queues = [&](auto visit) {
        for (uint32_t i = 0; i < 4; ++i) {
          if (length[i] == 0) continue;
          operation.Made(PairsOf<T>(pairs_of(i)));
          visit(roles[i], *tensors[i], 8ull * pairs_of(i));
        }
      };
      operation.Made(PairsOf<T>(total * repeats)).Check("dst", dst, 8ull * total * repeats);
      if (suspend) {  // which pairs are written depends on the scores
        for_queues([&](auto role, auto& tensor, uint64_t bytes) { operation.Check(role, tensor, bytes, 8); });
        uint32_t taken[4];
        const Pairs<T> queue[4] = {Pairs<T>(list.src1.Data()), Pairs<T>(list.src2.Data()), Pairs<T>(list.src3.Data()),
                                   Pairs<T>(list.src4.Data())};
        MergeQueues<T>(queue, length, true, taken, [](uint32_t, const Pairs<T>&, uint32_t) {});
        merged = taken[0] + taken[1] + taken[2] + taken[3];
      }
      operation.Local("dst", dst, 8ull * merged, Access::Write);
      for_queues(
          [&](auto role, auto& tensor, uint64_t bytes) { operation.Local(role, tensor, bytes, Access::Read, 8); });
      return operation.Emit(uint64_t{total} * repeats, repeats, 8);
    });
    core.NotePairs({dst.Bytes(), merged, 8, 4, "MrgSort", loc});
  }
  uint32_t done[4] = {0, 0, 0, 0};
  for (uint32_t repeat = 0; repeat < repeats; ++repeat) {
    const uint64_t step = uint64_t{repeat} * total * (8 / sizeof(T));
    const Pairs<T> queue[4] = {Pairs<T>(list.src1.Data() + step), Pairs<T>(list.src2.Data() + step),
                               Pairs<T>(list.src3.Data() + step), Pairs<T>(list.src4.Data() + step)};
    const Pairs<T> out(dst.Data() + step);
    MergeQueues<T>(queue, length, suspend, done, [&](uint32_t at, const Pairs<T>& from, uint32_t pair) {
      out.Set(at, from.Score(pair), from.Index(pair));
    });
  }
  for (uint32_t i = 0; i < 4; ++i) core.merged[i] = static_cast<uint16_t>(done[i]);
}

}  // namespace gn_twin

namespace AscendC {

// Sorts repeatTime groups of 32 scores, each on its own, with their indices.
template <class T>
inline void Sort32(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<uint32_t>& src1,
                   const int32_t repeatTime, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RequireRepeats("Sort32", repeatTime, gn_twin::kMaxRepeats, loc);
  const uint32_t count = 32 * static_cast<uint32_t>(repeatTime);
  gn_twin::CheckSort("Sort32", loc, dst, src0, src1, count);
  gn_twin::SortInto(dst.Data(), src0.Data(), src1.Data(), count, 32);
}

// Merges up to four sorted queues into dst, which must not overlap them.
template <class T>
inline void MrgSort(const LocalTensor<T>& dst, const MrgSortSrcList<T>& src, const MrgSort4Info& params,
                    gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunMerge(loc, dst, src, params.elementLengths, params.validBit, params.repeatTimes,
                    params.ifExhaustedSuspension);
}
// The form of the high-level API. With isExhaustedSuspension the merge ends when one queue is used up, and sortedNum
// gets the numbers that GetMrgSortResult gives.
template <class T, bool isExhaustedSuspension = false>
inline void MrgSort(const LocalTensor<T>& dst, const MrgSortSrcList<T>& sortList, const uint16_t elementCountList[4],
                    uint32_t sortedNum[4], uint16_t validBit, const int32_t repeatTime,
                    gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RequireRepeats("MrgSort", repeatTime, gn_twin::kMaxRepeats, loc);
  gn_twin::RunMerge(loc, dst, sortList, elementCountList, validBit, static_cast<uint32_t>(repeatTime),
                    isExhaustedSuspension);
  if constexpr (isExhaustedSuspension) {
    for (uint32_t i = 0; i < 4; ++i) sortedNum[i] = gn_twin::ThisCore().merged[i];
  }
}

// Gives the number of pairs that the last MrgSort took from each queue.
inline void GetMrgSortResult(uint16_t& mrgSortList1, uint16_t& mrgSortList2, uint16_t& mrgSortList3,
                             uint16_t& mrgSortList4) {
  const uint16_t* merged = gn_twin::ThisCore().merged;
  mrgSortList1 = merged[0];
  mrgSortList2 = merged[1];
  mrgSortList3 = merged[2];
  mrgSortList4 = merged[3];
}

}  // namespace AscendC
