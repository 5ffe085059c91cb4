#include "staging.h"

#include <cstring>

namespace gn_host {
namespace {

constexpr uint64_t kLeast = 4096;  // bytes: a tiling struct fits, and blocks of few sizes are used again

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

aclError Staging::Copy(void* to, const void* from, uint64_t bytes, aclrtStream stream) {
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
