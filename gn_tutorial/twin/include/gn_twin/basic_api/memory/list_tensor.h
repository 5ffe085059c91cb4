// ListTensorDesc and TensorDesc: a list of tensors, whose addresses and shapes the host put into one piece of global
// memory.
//
// The list's first word is the offset of the addresses, in bytes. Before the addresses, each tensor has a word with the
// number of its axes (lower half) and its place in the list (upper half), followed by the lengths of the axes.
// Source: docs/zh/api, 辅助数据结构.
#pragma once
#include "gn_twin/tensor/tensor.h"

namespace AscendC {

template <class T>
class TensorDesc {
 public:
  // Sets the address where GetDesc writes the lengths of the axes.
  void SetShapeAddr(uint64_t* shapePtr) { shape_ = shapePtr; }
  uint64_t GetDim() const { return dims_; }
  uint64_t GetIndex() const { return index_; }
  uint64_t GetShape(uint32_t offset) const { return offset < dims_ && shape_ != nullptr ? shape_[offset] : 0; }
  __gm__ T* GetDataPtr() const { return data_; }
  GlobalTensor<T> GetDataObj() const {
    GlobalTensor<T> tensor;
    tensor.SetGlobalBuffer(data_);
    return tensor;
  }

 private:
  friend class ListTensorDesc;
  uint64_t* shape_ = nullptr;
  uint64_t dims_ = 0;
  uint64_t index_ = 0;
  __gm__ T* data_ = nullptr;
};

class ListTensorDesc {
 public:
  ListTensorDesc() = default;
  ListTensorDesc(__gm__ void* data, uint32_t length = 0xffffffff, uint32_t shapeSize = 0xffffffff,
                 gn_twin::Loc loc = gn_twin::Loc::here()) {
    Init(data, length, shapeSize, loc);
  }
  // Reads the list. length: its bytes, or more; shapeSize: the number of its tensors. Each is checked if it is given.
  // Stops if a check fails or the list does not fit into the kernel's argument.
  void Init(__gm__ void* data, uint32_t length = 0xffffffff, uint32_t shapeSize = 0xffffffff,
            gn_twin::Loc loc = gn_twin::Loc::here()) {
    const uint64_t* words = static_cast<const uint64_t*>(gn_twin::SpaceCast<void*>(data));
    room_ = WordsOfArgument(words);
    if (room_ < 2) Refuse(loc);
    const uint64_t distance = words[0];
    if (distance % 8 != 0 || distance / 8 >= room_) Refuse(loc);
    addresses_ = words + distance / 8;
    shapes_ = words + 1;
    count_ = 0;
    for (const uint64_t* at = shapes_; at < addresses_; at += 1 + (*at & 0xffffffffu)) ++count_;
    if (distance / 8 + count_ > room_ || (shapeSize != 0xffffffff && shapeSize != count_) ||
        (length != 0xffffffff && length < distance + 8ull * count_)) {
      Refuse(loc);
    }
  }
  uint32_t GetSize() const { return count_; }
  template <class T>
  __gm__ T* GetDataPtr(uint32_t index, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    if (index >= count_) Refuse(loc, index);
    return reinterpret_cast<__gm__ T*>(addresses_[index]);
  }
  template <class T>
  void GetDesc(TensorDesc<T>& desc, uint32_t index, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    if (index >= count_) Refuse(loc, index);
    const uint64_t* at = shapes_;
    for (uint32_t i = 0; i < index; ++i) at += 1 + (*at & 0xffffffffu);
    desc.dims_ = *at & 0xffffffffu;
    desc.index_ = *at >> 32;
    desc.data_ = reinterpret_cast<__gm__ T*>(addresses_[index]);
    for (uint64_t i = 0; i < desc.dims_ && desc.shape_ != nullptr; ++i) desc.shape_[i] = at[1 + i];
  }

 private:
  static uint64_t WordsOfArgument(const void* data) {
    const GntArg* arg = gn_twin::ArgumentAt(gn_twin::ThisCore(), data);
    if (arg == nullptr) return 0;
    return static_cast<uint64_t>(arg->data + arg->bytes - static_cast<const uint8_t*>(data)) / 8;
  }
  [[noreturn]] void Refuse(gn_twin::Loc loc, uint32_t index = 0) const {
    gn_twin::ThisCore().Stop("list-tensor", loc, {{"tensors", count_}, {"index", index}, {"words", room_}});
  }

  const uint64_t* addresses_ = nullptr;
  const uint64_t* shapes_ = nullptr;
  uint32_t count_ = 0;
  uint64_t room_ = 0;
};

}  // namespace AscendC
