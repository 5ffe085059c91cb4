// Whether two views share a byte, decided exactly where that is cheap.
#pragma once
#include "tensor.h"

namespace gn_host {

// False: no byte is shared. True: one is, or it would take too long to rule out.
bool Overlap(const Tensor& a, const Tensor& b);

// The same of two elements of one view: what an output must not have.
bool OverlapsItself(const Tensor& tensor);

}  // namespace gn_host
