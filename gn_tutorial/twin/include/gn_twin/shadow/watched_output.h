// The record of the stores to one output or workspace: the stored bytes, and facts about the stores. Each row of a copy
// counts as a store.
#pragma once
#include "gn_twin/base/abi.h"
#include "gn_twin/base/loc.h"
#include "gn_twin/shadow/byte_state.h"

namespace gn_twin {

struct WatchedOutput {
  const GntArg* arg;
  ByteState bytes{};
  Loc last{};                  // the last store
  const char* op = "";         // the API of the last store
  uint32_t element_bytes = 0;  // the bytes of an element of the last store
  uint32_t starts = 0;         // how many stores began with the first element
  uint32_t start_block = 0;    // the block of the last store that began with the first element
  bool again = false;          // one block made two successive ones of the stores that began with the first element
  bool atomic = false;         // some store was atomic: it combined its data with the old contents
  uint64_t stores = 0;
  uint64_t stored = 0;   // bytes of all stores
  uint64_t longest = 0;  // bytes of the longest store
  Loc empty{};           // the last store of no bytes
  const char* empty_op = "";

  // Returns the size of an element of the last store; if there was none, that of the array; 1 if that is unknown too.
  uint32_t ElementBytes() const {
    return element_bytes != 0 ? element_bytes : arg->element_bytes != 0 ? arg->element_bytes : 1;
  }
};

}  // namespace gn_twin
