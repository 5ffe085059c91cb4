// Rows that follow each other in local memory, for channels-last GroupNorm. A period is so many rows that the next begins with a whole
// block again; what differs from channel to channel is a vector of one period, the same for every period of a piece.
#pragma once
#include "../common/common_lines.h"
#include "kernel_operator.h"

// dst = src op lanes for `count` elements, with the `period` floats of lanes again and again. By columns of 64 floats an instruction
// repeats over the periods; where these are fewer, or too far apart for the step of a repeat, it goes along one.
template <LineOp op>
__aicore__ inline void ApplyPeriods(const AscendC::LocalTensor<float>& dst, const AscendC::LocalTensor<float>& src,
                                    const AscendC::LocalTensor<float>& lanes, uint32_t count, uint32_t period) {
  const uint32_t whole = count / period;
  const uint32_t columns = (period + 63) / 64;
  const uint8_t step = static_cast<uint8_t>(period / 8);
  if (whole < columns || period / 8 > 255) {
    for (uint32_t at = 0; at < whole * period; at += period)
      BinaryOf<op>(dst[at], src[at], lanes, static_cast<int32_t>(period));
  } else {
    for (uint32_t first = 0; first < whole; first += kLinesAtOnce) {
      const uint32_t repeats = whole - first < kLinesAtOnce ? whole - first : kLinesAtOnce;
      for (uint32_t at = 0; at < period; at += 64) {
        const uint64_t mask = period - at < 64 ? period - at : 64;
        const uint32_t place = first * period + at;
        BinaryOf<op>(dst[place], src[place], lanes[at], mask, static_cast<uint8_t>(repeats),
                     AscendC::BinaryRepeatParams(1, 1, 1, step, step, 0));
      }
    }
  }
  const uint32_t at = whole * period;
  if (at < count) BinaryOf<op>(dst[at], src[at], lanes, static_cast<int32_t>(count - at));
}

// The first half of the periods of src plus the second half, in dst. Returns how many periods dst has then.
__aicore__ inline uint32_t HalvePeriods(const AscendC::LocalTensor<float>& dst, const AscendC::LocalTensor<float>& src,
                                        uint32_t periods, uint32_t period) {
  const uint32_t half = (periods + 1) / 2;
  AscendC::Add(dst, src, src[half * period], static_cast<int32_t>((periods - half) * period));
  if (periods % 2 != 0)  // the one in the middle has no partner
    AscendC::Adds(dst[(half - 1) * period], src[(half - 1) * period], 0.0f, static_cast<int32_t>(period));
  return half;
}

// Repeats the period that x begins with until there are `periods`.
__aicore__ inline void RepeatPeriod(const AscendC::LocalTensor<float>& x, uint32_t periods, uint32_t period) {
  for (uint32_t have = 1; have < periods; have *= 2) {
    const uint32_t more = periods - have < have ? periods - have : have;
    AscendC::DataCopy(x[have * period], x, more * period);
  }
}

// Adds periods up in place until at most `most` are left, and returns how many these are.
__aicore__ inline uint32_t FoldPeriods(const AscendC::LocalTensor<float>& x, uint32_t periods, uint32_t period,
                                       uint32_t most) {
  while (periods > most) {
    const uint32_t half = (periods + 1) / 2;
    AscendC::Add(x, x, x[half * period], static_cast<int32_t>((periods - half) * period));
    periods = half;
  }
  return periods;
}
