// One parameter of template tiling: its kind, its width in the key, and the list of its possible values.
//
// Source: docs/zh/api, Utils-API/Tiling模板编程/模板参数定义. ParamStruct and the constants have the names of that page, because
// projects may write them out instead of the macros.
#pragma once
#include <stdint.h>

#include <string>
#include <utility>
#include <vector>

// Kinds of parameters. CANN has no number for a tiling struct: an ASCENDC_TPL_ARGS_SEL names it, and it is not in the
// key.
enum : uint32_t {
  ASCENDC_TPL_DTYPE = 0,
  ASCENDC_TPL_FORMAT = 1,
  ASCENDC_TPL_UINT = 2,
  ASCENDC_TPL_BOOL = 3,
  ASCENDC_TPL_KERNEL_TYPE = 4,
  ASCENDC_TPL_DETERMINISTIC = 5,
  ASCENDC_TPL_SHARED_KERNEL_TYPE = 6,
  GNT_TPL_TILING_STRUCT = 1u << 16
};
// The notations for the values of a uint: ranges (their number, then first and last of each), a list, or both in this
// order.
enum : uint64_t { ASCENDC_TPL_UI_RANGE = 0, ASCENDC_TPL_UI_LIST = 1, ASCENDC_TPL_UI_MIX = 2 };
enum : uint8_t { ASCENDC_TPL_1_BW = 1, ASCENDC_TPL_2_BW = 2, ASCENDC_TPL_4_BW = 4, ASCENDC_TPL_8_BW = 8 };

enum : uint64_t {
  ASCENDC_TPL_AIV_ONLY = 0,
  ASCENDC_TPL_AIC_ONLY = 1,
  ASCENDC_TPL_MIX_AIV_1_0 = 4,
  ASCENDC_TPL_MIX_AIC_1_0 = 5,
  ASCENDC_TPL_MIX_AIC_1_1 = 6,
  ASCENDC_TPL_MIX_AIC_1_2 = 7,
  ASCENDC_TPL_AICORE = 8,
  ASCENDC_TPL_VECTORCORE = 9,
  ASCENDC_TPL_MIX_AICORE = 10,
  ASCENDC_TPL_MIX_VECTOR_CORE = 11
};

// In place of a list of values, these numbers stand for the dtype (or format) of an input or output. No dtype or format
// is so large a number.
constexpr uint64_t ASCENDC_TPL_INPUT(uint64_t index) { return 100000000 + index; }
constexpr uint64_t ASCENDC_TPL_OUTPUT(uint64_t index) { return 900000000 + index; }

struct ParamStruct {
  const char* name;
  uint32_t paramType;
  uint8_t bitWidth;
  std::vector<uint64_t> vals;
  const char* macroType;
  bool native;  // true: a dtype of the graph engine (DATATYPE), passed to the kernel as a type; false: as a number

  ParamStruct(const char* inName, uint32_t inParamType, uint8_t inBitWidth, std::vector<uint64_t> inVals,
              const char* inMacroType, bool inNative = false)
      : name(inName),
        paramType(inParamType),
        bitWidth(inBitWidth),
        vals(std::move(inVals)),
        macroType(inMacroType),
        native(inNative) {}
};
using TilingDeclareParams = std::vector<ParamStruct>;
using TilingSelectParams = std::vector<std::vector<ParamStruct>>;

namespace gn_twin::op_host {

// The values of a parameter in order. Ranges stay ranges, because a 32-bit range as a list would be gigabytes of
// numbers.
class ValueList {
 public:
  explicit ValueList(const ParamStruct& parameter) {
    if (parameter.paramType == ASCENDC_TPL_UINT) {
      ReadUint(parameter.vals);
    } else {
      for (uint64_t value : parameter.vals) Add(value, value);
    }
    if (!wrong_.empty()) return;
    if (ranges_.empty()) wrong_ = "it has no values";
    references_ = parameter.paramType == ASCENDC_TPL_DTYPE || parameter.paramType == ASCENDC_TPL_FORMAT;
    for (const Range& range : ranges_) references_ = references_ && range.first >= ASCENDC_TPL_INPUT(0);
  }

  // Returns the mistake in the list's notation; empty if there is none.
  const std::string& Wrong() const { return wrong_; }
  // Whether the parameter names inputs or outputs in place of values. The operator's own list of dtypes then decides.
  bool AnyValue() const { return references_; }

  bool Has(uint64_t value) const { return references_ || IndexOf(value) < Size(); }

  // Returns the index of a value, or Size() if the list does not have it.
  uint64_t IndexOf(uint64_t value) const {
    uint64_t before = 0;
    for (const Range& range : ranges_) {
      if (range.first <= value && value <= range.last) return before + (value - range.first);
      before += range.last - range.first + 1;
    }
    return before;
  }
  // Returns the value at an index below Size().
  uint64_t At(uint64_t index) const {
    for (const Range& range : ranges_) {
      const uint64_t length = range.last - range.first + 1;
      if (index < length) return range.first + index;
      index -= length;
    }
    return 0;
  }
  uint64_t Size() const {
    uint64_t size = 0;
    for (const Range& range : ranges_) size += range.last - range.first + 1;
    return size;
  }

  // Whether this list has every value of `other`, or AnyValue() of either. If not, *missing is the first missing value.
  bool HasAll(const ValueList& other, uint64_t* missing) const {
    if (references_ || other.references_) return true;
    for (const Range& wanted : other.ranges_) {
      for (uint64_t at = wanted.first;;) {
        const Range* around = nullptr;
        for (const Range& range : ranges_) around = range.first <= at && at <= range.last ? &range : around;
        *missing = at;
        if (around == nullptr) return false;
        if (around->last >= wanted.last) break;
        at = around->last + 1;
      }
    }
    return true;
  }

 private:
  struct Range {
    uint64_t first, last;
  };

  void Add(uint64_t first, uint64_t last) {
    if (last < first)
      wrong_ = "a range ends at " + std::to_string(last) + ", before its start " + std::to_string(first);
    for (const Range& range : ranges_) {
      if (first > range.last || last < range.first) continue;
      wrong_ = "the value " + std::to_string(first > range.first ? first : range.first) + " is listed twice";
    }
    ranges_.push_back({first, last});
  }

  void ReadUint(const std::vector<uint64_t>& written) {
    const size_t size = written.size();
    if (size < 2 || written[0] > ASCENDC_TPL_UI_MIX) {
      wrong_ = "it needs ASCENDC_TPL_UI_RANGE, ASCENDC_TPL_UI_LIST or ASCENDC_TPL_UI_MIX, then values";
      return;
    }
    size_t at = 1;
    if (written[0] != ASCENDC_TPL_UI_LIST) {
      const uint64_t ranges = written[1];
      const bool too_few = ranges > (size - 2) / 2;
      if (too_few || (written[0] == ASCENDC_TPL_UI_RANGE && ranges * 2 != size - 2)) {
        wrong_ = "the list declares " + std::to_string(ranges) + (ranges == 1 ? " range" : " ranges") +
                 " of two numbers, but " + std::to_string(size - 2) + " numbers follow";
        return;
      }
      for (at = 2; at < 2 + 2 * ranges; at += 2) Add(written[at], written[at + 1]);
    }
    for (; at < size; ++at) Add(written[at], written[at]);
  }

  std::vector<Range> ranges_;
  std::string wrong_;
  bool references_ = false;
};

}  // namespace gn_twin::op_host
