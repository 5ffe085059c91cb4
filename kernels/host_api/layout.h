// The order of axes in which an operator that has a kernel for each takes its tensors: (N, C, spatial...) or (N, spatial..., C).
//
// What decides is what packing and unpacking would move. A copy moves blocks of 32 bytes, however few of them are wanted, so that one
// between the two orders moves an element a block, and takes many times as long as either kernel. The kernels themselves differ by less.
#pragma once
#include "checks.h"

namespace gn_host {

// The same elements with axis 1 as the last one.
Tensor ChannelsLast(const Tensor& tensor);
// Whether these tensors, each (N, C, ...) as it stands, are less to copy with the channels last. One that was not given costs nothing.
bool ChannelsLastPays(const Arguments& arguments);

}  // namespace gn_host
