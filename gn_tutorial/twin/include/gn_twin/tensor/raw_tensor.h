// A local tensor without its type, and the bytes that an instruction may touch.
#pragma once
#include "gn_twin/tensor/tensor.h"

namespace gn_twin {

// A local tensor without its type.
struct RawTensor {
  const uint8_t* at;
  uint64_t room;    // bytes
  uint32_t number;  // of the MadeTensor
  uint16_t buffer;  // index into Core::buffers
  uint8_t element_bytes;
  bool floats;

  template <class T>
  RawTensor(const AscendC::LocalTensor<T>& tensor)
      : at(tensor.Bytes()),
        room(BytesOf<T>(tensor.GetSize())),
        number(tensor.Number()),
        buffer(tensor.BufferIndex()),
        element_bytes(sizeof(T)),
        floats(kIsFloat<T>) {}
};

// Returns the number of bytes from the start of the tensor to the end of its last block. The rest of this block belongs
// to the same buffer, because memory is allocated in whole blocks.
inline uint64_t WholeRoom(const RawTensor& tensor) {
  const uint64_t over = (reinterpret_cast<uintptr_t>(tensor.at) + tensor.room) % kBlockBytes;
  return tensor.room + (over != 0 ? kBlockBytes - over : 0);
}

// Whether an instruction may touch `bytes` bytes from the start of the tensor, whose address has to be aligned.
inline bool Fits(const Core& core, const RawTensor& tensor, uint64_t bytes, uint32_t align = kBlockBytes) {
  return (bytes <= tensor.room || bytes <= WholeRoom(tensor)) &&
         (reinterpret_cast<uintptr_t>(tensor.at) & (align - 1)) == 0 && tensor.at != nullptr && core.InUb(tensor.at) &&
         !core.IsFree(tensor.buffer, tensor.number);
}

}  // namespace gn_twin
