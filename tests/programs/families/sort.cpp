// Sorting. op: 0 Sort32, 1 Sort (all), 2 Sort (each 32), 3 MrgSort, 4 MrgSort (high-level), 5 Extract, 6 TopK, 7 TopK (small).
// src0: scores or pairs; src1: indices. extra: lengths of queues, or rows, inner, n, k; mode: valid bits, or largest; flag: suspend,
// or what TopK is given: 0 nothing, 1 indices, 2 finished rows too. Indices of TopK and of Extract go to byte 8192.
#include "bench.h"

template <class T>
__aicore__ void Run(Bench& bench) {
  const Ask& ask = bench.ask;
  LocalTensor<T> dst = bench.Dst<T>();
  LocalTensor<T> src = bench.Src0<T>();
  LocalTensor<uint32_t> index = bench.Src1<uint32_t>();
  const int32_t repeats = static_cast<int32_t>(ask.repeat);
  uint16_t lengths[4];
  MrgSortSrcList<T> queues(src, src, src, src);
  if (ask.op == 3 || ask.op == 4) {
    uint32_t at = 0;
    LocalTensor<T>* const each[] = {&queues.src1, &queues.src2, &queues.src3, &queues.src4};
    for (uint32_t i = 0; i < 4; ++i) {
      lengths[i] = static_cast<uint16_t>(ask.extra[i]);
      *each[i] = src[at * (8 / sizeof(T))];
      at += lengths[i];
    }
  }
  uint32_t taken[4] = {0, 0, 0, 0};
  const TopKInfo info{static_cast<int32_t>(ask.extra[0]), static_cast<int32_t>(ask.extra[1]),
                      static_cast<int32_t>(ask.extra[2])};
  const int32_t k = static_cast<int32_t>(ask.extra[3]);
  LocalTensor<int32_t> given = bench.Src1<int32_t>();
  LocalTensor<int32_t> places = bench.Dst<int32_t>()[2048];
  LocalTensor<bool> finished = bench.Src1<bool>()[8192];
  LocalTensor<uint8_t> scratch;
  LocalTensor<T> concat;
  switch (ask.op) {
    case 0: Sort32(dst, src, index, repeats); break;
    case 1:
      Concat(concat, src, src, repeats);
      Sort<T, true>(dst, concat, index, concat, repeats);
      break;
    case 2: Sort<T, false>(dst, src, index, concat, repeats); break;
    case 3:
      MrgSort(dst, queues,
              MrgSort4Info(lengths, ask.flag == 1, static_cast<uint16_t>(ask.mode), static_cast<uint16_t>(repeats)));
      GetMrgSortResult(lengths[0], lengths[1], lengths[2], lengths[3]);
      for (uint32_t i = 0; i < 4; ++i) bench.Dst<int32_t>().SetValue(4088 + i, lengths[i]);
      break;
    case 4:
      if (ask.flag == 0) MrgSort<T>(dst, queues, lengths, taken, static_cast<uint16_t>(ask.mode), repeats);
      if (ask.flag == 1) MrgSort<T, true>(dst, queues, lengths, taken, static_cast<uint16_t>(ask.mode), repeats);
      for (uint32_t i = 0; i < 4; ++i) bench.Dst<int32_t>().SetValue(4088 + i, taken[i]);
      break;
    case 5: Extract(dst, bench.Dst<uint32_t>()[2048], src, repeats); break;
    case 6:
      if (ask.flag == 0) TopK<T>(dst, places, src, given, finished, k, TopkTiling{}, info, ask.mode == 1);
      if (ask.flag == 1)
        TopK<T, true>(dst, places, src, given, finished, scratch, k, TopkTiling{}, info, ask.mode == 1);
      if (ask.flag == 2)
        TopK<T, true, true>(dst, places, src, given, finished, scratch, k, TopkTiling{}, info, ask.mode == 1);
      break;
    case 7:
      TopK<T, true, false, false, TopKMode::TOPK_NSMALL>(dst, places, src, given, finished, k, TopkTiling{}, info,
                                                         ask.mode == 1);
      break;
  }
}

extern "C" __global__ __aicore__ void sort(GM_ADDR dst, GM_ADDR src0, GM_ADDR src1, GM_ADDR ask_address) {
  Bench bench(dst, src0, src1, ask_address);
  bench.ask.type == kHalf ? Run<half>(bench) : Run<float>(bench);
  bench.Store();
}
