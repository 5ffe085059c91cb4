// Host memory from which the device may still be copying: it must outlive an asynchronous copy, and nobody waits for it.
//
// aclrtMemcpyAsync returns before the copy is done if the host memory is page-locked, and waits for it otherwise; then every operator
// would wait for all that is in front of it on the stream. So bytes to be copied go into page-locked memory of our own first. Behind each
// copy an event is recorded on the stream; when it has happened, the memory is free for the next one.
//
// A stream whose work is captured into a graph (aclmdlRICaptureBegin, torch.npu.NPUGraph) is another matter: the copy runs at every replay,
// as long as the graph lives, which nobody tells us; and to ask for an event is an error meanwhile. So a captured copy gets memory that
// is never given to another one, nor freed.
#pragma once
#include "acl/acl.h"

#include <memory>
#include <vector>

namespace gn_host {

// For one stream, in one context; not for two threads at once.
class Staging {
 public:
  Staging() = default;
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  // The stream must have been synchronised, or be gone.
  ~Staging();

  // Puts the copy of `bytes` from host memory into the stream's queue, or into the graph that captures it; `from` may change when this
  // has returned.
  aclError Copy(void* to, const void* from, uint64_t bytes, aclrtStream stream);

 private:
  struct Block {
    void* memory = nullptr;
    uint64_t bytes = 0;
    aclrtEvent event = nullptr;
  };

  // A block of at least so many bytes that no copy reads any more.
  aclError Free(uint64_t bytes, Block** found);

  // Memory that a graph can read for ever.
  aclError Keep(uint64_t bytes, void** found);

  std::vector<std::unique_ptr<Block>> blocks_;
  char* kept_ = nullptr;  // what is left of the last piece for graphs
  uint64_t left_ = 0;     // bytes
};

}  // namespace gn_host
