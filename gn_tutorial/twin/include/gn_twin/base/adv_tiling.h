// The tiling structs of the high-level API, which the host fills and the kernel passes on. Both sides use these
// definitions.
//
// The members that describe the shape have their documented names. The members that say how the device divides its
// scratch memory are one array of words, `scratch`, so that each struct has its documented size; docs/zh/api says that
// kernels need not know them. Two structs that public kernels fill by hand (SoftMaxTiling, RmsNormTiling) have all
// their documented members.
// Source: docs/zh/api, the Tiling page beside each function.
#pragma once
#include <stdint.h>

namespace AscendC {
// The mode of TopK. TopK's host functions take the mode too.
enum class TopKMode { TOPK_NORMAL, TOPK_NSMALL };
}  // namespace AscendC

namespace AscendC::tiling {

struct SoftMaxTiling {
  uint32_t srcM = 0;
  uint32_t srcK = 0;
  uint32_t srcSize = 0;
  uint32_t outMaxM = 0;
  uint32_t outMaxK = 0;
  uint32_t outMaxSize = 0;
  uint32_t splitM = 0;
  uint32_t splitK = 0;
  uint32_t splitSize = 0;
  uint32_t reduceM = 0;
  uint32_t reduceK = 0;
  uint32_t reduceSize = 0;
  uint32_t rangeM = 0;
  uint32_t tailM = 0;
  uint32_t tailSplitSize = 0;
  uint32_t tailReduceSize = 0;
};
struct LogSoftMaxTiling {
  uint32_t srcM = 0;
  uint32_t srcK = 0;
  uint32_t srcSize = 0;
  uint32_t scratch[13] = {};
};

struct RmsNormTiling {
  uint32_t bLength = 0;
  uint32_t sLength = 0;
  uint32_t hLength = 0;
  uint32_t originalHLength = 0;
  float reciprocalOfHLength = 0;
  uint32_t mainBshLength = 0;
  uint32_t mainBsLength = 0;
  uint32_t mainBsLengthAlign = 0;
  uint32_t loopRound = 0;
  uint32_t inputTailPos = 0;
  uint32_t tailBshLength = 0;
  uint32_t tailBsLength = 0;
};
// bLength * sLength rows of hLength elements. The first originalHLength elements of a row are data.
struct LayerNormTiling {
  uint32_t bLength = 0;
  uint32_t sLength = 0;
  uint32_t hLength = 0;
  uint32_t originalHLength = 0;
  uint32_t scratch[22] = {};
};
struct LayerNormSeparateTiling {
  uint32_t aLength = 0;
  uint32_t rLength = 0;
  uint32_t scratch[24] = {};
};
struct LayerNormGradTiling {
  uint32_t stackBufferSize = 0;
  uint32_t bLength = 0;
  uint32_t sLength = 0;
  uint32_t hLength = 0;
  uint32_t originalHLength = 0;
  uint32_t scratch[25] = {};
};
struct LayerNormGradBetaTiling {
  uint32_t stackBufferSize = 0;
  uint32_t bLength = 0;
  uint32_t sLength = 0;
  uint32_t hLength = 0;
  uint32_t originalHLength = 0;
  uint32_t scratch[15] = {};
};
struct DeepNormTiling {
  uint32_t bLength = 0;
  uint32_t sLength = 0;
  uint32_t hLength = 0;
  uint32_t originalHLength = 0;
  uint32_t scratch[22] = {};
};

// srcHeight rows of srcWidth elements. The first srcOriWidth elements of a row are data.
struct PadTiling {
  uint32_t srcHeight = 0;
  uint32_t srcWidth = 0;
  uint32_t srcOriWidth = 0;
  uint32_t scratch[23] = {};
};
struct UnPadTiling {
  uint32_t srcHeight = 0;
  uint32_t srcWidth = 0;
  uint32_t scratch[6] = {};
};

// shape: the lengths of the source's axes, outermost first.
struct ConfusionTransposeTiling {
  uint32_t shape[4] = {};
  uint32_t scratch[14] = {};
};

struct TopkTiling {
  int32_t tmpLocalSize = 0;
  int32_t allDataSize = 0;
  int32_t innerDataSize = 0;
  uint32_t scratch[25] = {};
};

}  // namespace AscendC::tiling

// Kernels expect the structs in the global namespace; host code expects them in optiling too.
#define GNT_TILING_NAMES                           \
  using AscendC::tiling::ConfusionTransposeTiling; \
  using AscendC::tiling::DeepNormTiling;           \
  using AscendC::tiling::LayerNormGradBetaTiling;  \
  using AscendC::tiling::LayerNormGradTiling;      \
  using AscendC::tiling::LayerNormSeparateTiling;  \
  using AscendC::tiling::LayerNormTiling;          \
  using AscendC::tiling::LogSoftMaxTiling;         \
  using AscendC::tiling::PadTiling;                \
  using AscendC::tiling::RmsNormTiling;            \
  using AscendC::tiling::SoftMaxTiling;            \
  using AscendC::tiling::TopkTiling;               \
  using AscendC::tiling::UnPadTiling;
GNT_TILING_NAMES
namespace optiling {
GNT_TILING_NAMES
}
#undef GNT_TILING_NAMES
