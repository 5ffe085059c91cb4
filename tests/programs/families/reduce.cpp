// Reductions. extra[0]: first element of the destination that is used; extra[1]: destination repeat stride.
#include "bench.h"

enum Op : int64_t {
  kReduceSum,
  kReduceMax,
  kReduceMin,
  kWholeSum,
  kWholeMax,
  kWholeMin,
  kBlockSum,
  kBlockMax,
  kBlockMin,
  kPairSum,
  kRepeatSum
};

template <class T>
__aicore__ void Run(Bench& bench) {
  const Ask& ask = bench.ask;
  LocalTensor<T> dst = bench.Dst<T>()[static_cast<uint32_t>(ask.extra[0])];
  LocalTensor<T> src = bench.Src0<T>();
  LocalTensor<T> tmp = bench.Src1<T>();
  const int32_t mask = static_cast<int32_t>(ask.low);
  const uint64_t bits[2] = {ask.low, ask.high};
  const int32_t count = static_cast<int32_t>(ask.count);
  const int32_t repeat = static_cast<int32_t>(ask.repeat);
  const int32_t to = static_cast<int32_t>(ask.extra[1]);
  const int32_t blk = static_cast<int32_t>(ask.src0_blk);
  const int32_t rep = static_cast<int32_t>(ask.src0_rep);
  const ReduceOrder order = static_cast<ReduceOrder>(ask.mode);
  const bool index = ask.flag != 0;
// The three forms of a whole-tensor reduction; the tail of the call is its last arguments.
#define TENSOR(NAME, ...)                                                                    \
  if (ask.form == kCount) NAME(dst, src, tmp, count __VA_OPT__(, ) __VA_ARGS__);             \
  if (ask.form == kLanes) NAME(dst, src, tmp, mask, repeat, rep __VA_OPT__(, ) __VA_ARGS__); \
  if (ask.form == kBits) NAME(dst, src, tmp, bits, repeat, rep __VA_OPT__(, ) __VA_ARGS__)
#define MASK_FIRST(NAME, ...)                                                                    \
  if (ask.form == kLanes) NAME(dst, src, mask, repeat, to, blk, rep __VA_OPT__(, ) __VA_ARGS__); \
  if (ask.form == kBits) NAME(dst, src, bits, repeat, to, blk, rep __VA_OPT__(, ) __VA_ARGS__);  \
  if (ask.form == kOutside) {                                                                    \
    OutsideMask<T>(ask);                                                                         \
    NAME<T, false>(dst, src, 0, repeat, to, blk, rep __VA_OPT__(, ) __VA_ARGS__);                \
    ResetMask();                                                                                 \
  }
#define REPEAT_FIRST(NAME)                                            \
  if (ask.form == kLanes) NAME(dst, src, repeat, mask, to, blk, rep); \
  if (ask.form == kBits) NAME(dst, src, repeat, bits, to, blk, rep);  \
  if (ask.form == kOutside) {                                         \
    OutsideMask<T>(ask);                                              \
    NAME<T, false>(dst, src, repeat, 0, to, blk, rep);                \
    ResetMask();                                                      \
  }
  switch (ask.op) {
    case kReduceSum: TENSOR(ReduceSum); break;
    case kReduceMax: TENSOR(ReduceMax, index); break;
    case kReduceMin: TENSOR(ReduceMin, index); break;
    case kWholeSum: MASK_FIRST(WholeReduceSum) break;
    case kWholeMax: MASK_FIRST(WholeReduceMax, order) break;
    case kWholeMin: MASK_FIRST(WholeReduceMin, order) break;
    case kBlockSum: REPEAT_FIRST(BlockReduceSum) break;
    case kBlockMax: REPEAT_FIRST(BlockReduceMax) break;
    case kBlockMin: REPEAT_FIRST(BlockReduceMin) break;
    case kPairSum: REPEAT_FIRST(PairReduceSum) break;
    case kRepeatSum: RepeatReduceSum(dst, src, repeat, mask, 1, blk, to, rep); break;
  }
}

extern "C" __global__ __aicore__ void reduce(GM_ADDR dst, GM_ADDR src0, GM_ADDR src1, GM_ADDR ask) {
  Bench bench(dst, src0, src1, ask);
  if (bench.ask.type == kHalf) Run<half>(bench);
  if (bench.ask.type == kFloat) Run<float>(bench);
  bench.Store();
}
