// The list of a finding's facts (report.h), for findings that have some facts only in some cases.
#pragma once
#include "gn_twin/events/report.h"

namespace gn_twin {

// Holds at most kMost facts; further facts are dropped.
class FieldList {
 public:
  GNT_COLD FieldList(std::initializer_list<Field> fields) {
    for (const Field& field : fields) Add(field);
  }
  void Add(const Field& field) {
    if (count_ < kMost) all_[count_++] = field;
  }
  bool Has(const char* key) const {
    for (uint32_t i = 0; i < count_; ++i)
      if (__builtin_strcmp(all_[i].key, key) == 0) return true;
    return false;
  }
  const Field* Data() const { return all_; }
  uint32_t Count() const { return count_; }

 private:
  static constexpr uint32_t kMost = 32;

  Field all_[kMost] = {};
  uint32_t count_ = 0;
};

}  // namespace gn_twin
