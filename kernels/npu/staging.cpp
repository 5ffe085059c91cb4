#include "staging.h"

#include <dlfcn.h>

#include <cstring>

namespace gn_host {
namespace {

constexpr uint64_t kLeast = 4096;               // bytes: a tiling struct fits, and blocks of few sizes are used again
constexpr uint64_t kPiece = uint64_t{1} << 16;  // bytes that graphs get at a time: some hundred tiling structs
constexpr uint64_t kAligned = 64;               // bytes: a line of the host's cache

// Whether work on the stream goes into a graph. The function that knows is looked up: CANN before 8.2 has neither it nor graphs. A chip
// without graphs returns an error.
bool Captured(aclrtStream stream) {
  using GetInfo =
      aclError (*)(aclrtStream stream, int* status, void** graph);  // the status is an enum, the graph a pointer
  static const auto get = reinterpret_cast<GetInfo>(dlsym(RTLD_DEFAULT, "aclmdlRICaptureGetInfo"));
  int status = 0;  // ACL_MODEL_RI_CAPTURE_STATUS_NONE
  void* graph = nullptr;
  return get != nullptr && get(stream, &status, &graph) == ACL_SUCCESS && status != 0;
}

}  // namespace

Staging::~Staging() {
  for (const auto& block : blocks_) {
    if (block->event != nullptr) aclrtDestroyEvent(block->event);
    if (block->memory != nullptr) aclrtFreeHost(block->memory);
  }
}

aclError Staging::Free(uint64_t bytes, Block** found) {
  for (const auto& block : blocks_) {
    if (block->bytes < bytes) continue;
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    if (const aclError wrong = aclrtQueryEventStatus(block->event, &status); wrong != ACL_SUCCESS) return wrong;
    if (status != ACL_EVENT_RECORDED_STATUS_COMPLETE) continue;
    *found = block.get();
    return ACL_SUCCESS;
  }
  uint64_t size = kLeast;
  while (size < bytes) size *= 2;
  blocks_.push_back(std::make_unique<Block>());
  Block* const made = blocks_.back().get();
  aclError wrong = aclrtMallocHost(&made->memory, size);
  // An event of this kind can be recorded again and again.
  if (wrong == ACL_SUCCESS) wrong = aclrtCreateEventExWithFlag(&made->event, ACL_EVENT_CAPTURE_STREAM_PROGRESS);
  if (wrong != ACL_SUCCESS) {
    if (made->memory != nullptr) aclrtFreeHost(made->memory);
    blocks_.pop_back();
    return wrong;
  }
  made->bytes = size;
  *found = made;
  return ACL_SUCCESS;
}

aclError Staging::Keep(uint64_t bytes, void** found) {
  bytes = (bytes + kAligned - 1) / kAligned * kAligned;
  if (bytes > left_) {
    const uint64_t size = bytes > kPiece ? bytes : kPiece;
    void* made = nullptr;
    if (const aclError wrong = aclrtMallocHost(&made, size); wrong != ACL_SUCCESS) return wrong;
    kept_ = static_cast<char*>(made);
    left_ = size;
  }
  *found = kept_;
  kept_ += bytes;
  left_ -= bytes;
  return ACL_SUCCESS;
}

aclError Staging::Copy(void* to, const void* from, uint64_t bytes, aclrtStream stream) {
  if (Captured(stream)) {
    void* memory = nullptr;
    if (const aclError wrong = Keep(bytes, &memory); wrong != ACL_SUCCESS) return wrong;
    std::memcpy(memory, from, bytes);
    return aclrtMemcpyAsync(to, bytes, memory, bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream);
  }
  Block* block = nullptr;
  if (const aclError wrong = Free(bytes, &block); wrong != ACL_SUCCESS) return wrong;
  std::memcpy(block->memory, from, bytes);
  if (const aclError wrong = aclrtMemcpyAsync(to, bytes, block->memory, bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream);
      wrong != ACL_SUCCESS) {
    return wrong;
  }
  const aclError wrong = aclrtRecordEvent(block->event, stream);
  // Without an event nobody could tell when the memory is free.
  return wrong == ACL_SUCCESS ? wrong : (aclrtSynchronizeStream(stream), wrong);
}

}  // namespace gn_host
