// Records how far the inputs of a launch were read. An unread input is no finding, because a kernel need not use it. It
// becomes a note beside wrong outputs (gn_tutorial/compare/patterns/unread_input.py).
#pragma once
#include "gn_twin/core/core.h"
#include "gn_twin/shadow/row_set.h"

namespace gn_twin {

class InputReads {
 public:
  // Registers up to kMost inputs of a job, except arrays of single bytes: most of those are tiling structs, which a
  // kernel reads through a pointer.
  explicit InputReads(const GntJob& job) {
    for (uint32_t i = 0; i < job.arg_count && count_ < kMost; ++i) {
      const GntArg& arg = job.args[i];
      if (arg.kind == GNT_TENSOR && arg.role == GNT_IN && arg.bytes != 0 && arg.element_bytes > 1)
        all_[count_++] = {&arg, arg.bytes, 0};
    }
  }

  bool Any() const { return count_ != 0; }
  // Notes that `bytes` bytes from `at` on were read.
  void Note(const uint8_t* at, uint64_t bytes) {
    for (uint32_t i = 0; i < count_; ++i) {
      Input& input = all_[i];
      const uint64_t first = static_cast<uint64_t>(at - input.arg->data);
      if (first >= input.arg->bytes) continue;
      if (first < input.first) input.first = first;
      if (first + bytes > input.end) input.end = first + bytes;
      return;
    }
  }
  GNT_COLD void Report(Core& core) const {
    for (uint32_t i = 0; i < count_; ++i) {
      const Input& input = all_[i];
      if (input.end >= input.arg->bytes && input.first == 0) continue;
      const uint32_t element = input.arg->element_bytes;
      const Field fields[] = {{"argument", input.arg->name != nullptr ? input.arg->name : "?"},
                              {"first", input.end == 0 ? 0 : input.first / element},
                              {"end", input.end / element},
                              {"of", input.arg->bytes / element}};
      ReportWriter(*core.job).Write(kNote, "note", Loc{"", 0}, 0, fields, 4);
    }
  }

 private:
  struct Input {
    const GntArg* arg;
    uint64_t first;  // all bytes that were read lie from `first` to `end`
    uint64_t end;
  };
  static constexpr const char* kNote = "gm-input-unread";
  static constexpr uint32_t kMost = 16;
  Input all_[kMost];
  uint32_t count_ = 0;
};

}  // namespace gn_twin
