#include "layout.h"

namespace gn_host {
namespace {

constexpr uint64_t kBlock = 32;  // bytes

// Blocks that a copy between the tensor and a contiguous one of its axes' order moves; 0 if it is contiguous.
uint64_t BlocksMoved(const Tensor& tensor) {
  if (tensor.Contiguous()) return 0;
  int64_t run = 1;  // elements that are neighbours on both sides
  for (size_t axis = tensor.dims.size(); axis > 0; --axis) {
    if (tensor.dims[axis - 1] == 1) continue;
    if (tensor.strides[axis - 1] != run) break;
    run *= tensor.dims[axis - 1];
  }
  const uint64_t bytes = static_cast<uint64_t>(run) * tensor.ItemBytes();
  return static_cast<uint64_t>(tensor.count / run) * ((bytes + kBlock - 1) / kBlock);
}

}  // namespace

Tensor ChannelsLast(const Tensor& tensor) {
  std::vector<size_t> axes;
  for (size_t axis = 0; axis < tensor.dims.size(); ++axis)
    if (axis != 1) axes.push_back(axis);
  axes.push_back(1);
  return tensor.Permuted(axes);
}

bool ChannelsLastPays(const Arguments& arguments) {
  uint64_t first = 0, last = 0;
  for (const Argument* one : arguments) {
    if (!*one || (*one)->dims.size() < 2) continue;
    first += BlocksMoved(*one->tensor);
    last += BlocksMoved(ChannelsLast(*one->tensor));
  }
  return last < first;
}

}  // namespace gn_host
