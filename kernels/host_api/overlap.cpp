// Slices of one buffer lie between each other without touching: comparing first and last addresses would refuse them.
//
// Two elements are the same place if base_a + sum(i_k * s_k) = base_b + sum(j_k * t_k), every index within its axis. Each index is a
// term with a coefficient and a range; terms are tried largest coefficient first, and only with values from which the smaller ones
// can still make up the difference. With strides as tensors have them one or two values a term are left.
#include "overlap.h"

#include <algorithm>

namespace gn_host {
namespace {

using Wide = __int128;

struct Term {
  Wide coefficient;  // bytes, positive
  Wide low, high;    // of the index, both included
};

constexpr int kMostTries = 20000;

class Search {
 public:
  explicit Search(std::vector<Term> terms) : terms_(std::move(terms)) {
    std::sort(terms_.begin(), terms_.end(), [](const Term& a, const Term& b) { return a.coefficient > b.coefficient; });
    low_.assign(terms_.size() + 1, 0);
    high_.assign(terms_.size() + 1, 0);
    for (size_t at = terms_.size(); at > 0; --at) {
      low_[at - 1] = low_[at] + terms_[at - 1].coefficient * terms_[at - 1].low;
      high_[at - 1] = high_[at] + terms_[at - 1].coefficient * terms_[at - 1].high;
    }
  }

  // Whether the terms can sum up to `from` .. `to`; also true if the tries run out.
  bool Reaches(Wide from, Wide to) { return Try(0, from, to); }

 private:
  bool Try(size_t at, Wide from, Wide to) {
    if (to < low_[at] || from > high_[at]) return false;
    if (at == terms_.size()) return true;
    const Term& term = terms_[at];
    const Wide first = std::max(term.low, UpTo(from - high_[at + 1], term.coefficient));
    const Wide last = std::min(term.high, DownTo(to - low_[at + 1], term.coefficient));
    for (Wide value = first; value <= last; ++value) {
      if (++tries_ > kMostTries) return true;
      if (Try(at + 1, from - value * term.coefficient, to - value * term.coefficient)) return true;
    }
    return false;
  }
  static Wide DownTo(Wide value, Wide step) { return value >= 0 ? value / step : -((-value + step - 1) / step); }
  static Wide UpTo(Wide value, Wide step) { return -DownTo(-value, step); }

  std::vector<Term> terms_;
  std::vector<Wide> low_, high_;  // of the sum of this term and those behind it
  int tries_ = 0;
};

// The index of one axis of a, less that of an equal stride of b: one term, or the search would try every pair of equal differences.
void AddTerm(std::vector<Term>* terms, Wide stride, Wide low, Wide high) {
  if (stride == 0 || low == high) return;
  for (Term& term : *terms) {
    if (term.coefficient != stride) continue;
    term.low += low;
    term.high += high;
    return;
  }
  terms->push_back({stride, low, high});
}

}  // namespace

bool Overlap(const Tensor& a, const Tensor& b) {
  if (a.count == 0 || b.count == 0) return false;
  const uintptr_t a_first = reinterpret_cast<uintptr_t>(a.First()), b_first = reinterpret_cast<uintptr_t>(b.First());
  if (a_first + a.ExtentBytes() <= b_first || b_first + b.ExtentBytes() <= a_first) return false;
  std::vector<Term> terms;
  for (size_t axis = 0; axis < a.dims.size(); ++axis)
    AddTerm(&terms, static_cast<Wide>(a.strides[axis]) * a.ItemBytes(), 0, a.dims[axis] - 1);
  for (size_t axis = 0; axis < b.dims.size(); ++axis)
    AddTerm(&terms, static_cast<Wide>(b.strides[axis]) * b.ItemBytes(), 1 - b.dims[axis], 0);
  // A byte of an element of a is one of an element of b: their starts are less than an element apart.
  const Wide apart = static_cast<Wide>(b_first) - static_cast<Wide>(a_first);
  return Search(terms).Reaches(apart - a.ItemBytes() + 1, apart + b.ItemBytes() - 1);
}

bool OverlapsItself(const Tensor& tensor) {
  // Some axis is the first in which the two indices differ: along it by one or more, in those before by nothing.
  for (size_t first = 0; tensor.count > 0 && first < tensor.dims.size(); ++first) {
    if (tensor.dims[first] == 1) continue;
    std::vector<Term> terms;
    const Wide stride = tensor.strides[first];
    if (stride == 0) return true;
    for (size_t axis = first + 1; axis < tensor.dims.size(); ++axis)
      AddTerm(&terms, tensor.strides[axis], 1 - tensor.dims[axis], tensor.dims[axis] - 1);
    terms.push_back({stride, 1, tensor.dims[first] - 1});  // on its own: merged with an equal stride it could be 0
    if (Search(terms).Reaches(0, 0)) return true;
  }
  return false;
}

}  // namespace gn_host
