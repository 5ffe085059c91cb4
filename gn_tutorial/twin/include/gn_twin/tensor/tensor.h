// LocalTensor and GlobalTensor: typed views of the Unified Buffer and of global memory.
//
// Source: docs/zh/api .../数据结构/LocalTensor and GlobalTensor of asc-devkit.
#pragma once
#include "gn_twin/core/core.h"
#include "gn_twin/core/async_copies.h"
#include "gn_twin/core/polling.h"
#include "gn_twin/base/int4.h"
#include "gn_twin/base/shape_info.h"

namespace gn_twin {

// Returns the name of an element type.
template <class T>
constexpr const char* TypeName() {
  if constexpr (kSame<T, half>) return "half";
  if constexpr (kSame<T, bfloat16_t>) return "bfloat16_t";
  if constexpr (kSame<T, float>) return "float";
  if constexpr (kSame<T, int8_t>) return "int8_t";
  if constexpr (kSame<T, uint8_t>) return "uint8_t";
  if constexpr (kSame<T, int16_t>) return "int16_t";
  if constexpr (kSame<T, uint16_t>) return "uint16_t";
  if constexpr (kSame<T, int32_t>) return "int32_t";
  if constexpr (kSame<T, uint32_t>) return "uint32_t";
  if constexpr (kSame<T, int64_t>) return "int64_t";
  if constexpr (kSame<T, uint64_t>) return "uint64_t";
  return "a type the twin has no name for";
}

// The number of the MadeTensor that a tensor comes from; 0 for a tensor of no such. Bare libraries keep none.
template <bool kKept>
struct TensorNumber {
  uint32_t value = 0;
};
template <>
struct TensorNumber<false> {
  static constexpr uint32_t value = 0;
  TensorNumber(uint32_t = 0) {}
};

// Refuses a tensor that a kernel placed by hand (LocalTensor with an address, LocalMemAllocator) at an impossible
// address.
inline void CheckPlace(Core& core, const char* op, uint64_t address, uint64_t bytes, Loc loc) {
  core.At(loc);
  if (address % kBlockBytes != 0) {
    core.Stop("static-misaligned", loc,
              {{"op", op},
               {"role", "the tensor"},
               {"address", address},
               {"align", kBlockBytes},
               {"over", address % kBlockBytes}});
  }
  if (address + bytes > kUbBytes) {
    core.Stop("static-overflow", loc,
              {{"op", op}, {"bytes", bytes}, {"address", address}, {"end", address + bytes}, {"ub", kUbBytes}});
  }
  uint64_t& high = core.job->tally.ub_high_water;
  if (address + bytes > high) high = address + bytes;
}

// Reports an index outside its tensor and stops. It is a separate function, because inlined report code would take
// registers from loops with GetValue.
[[noreturn]] GNT_COLD inline void StopAtIndex(Core& core, const char* op, uint32_t index, uint32_t elements,
                                              uint32_t element_bytes, uint16_t buffer, Loc loc) {
  if (buffer >= core.buffer_count)
    core.Stop("static-index", loc, {{"op", op}, {"index", index}, {"elements", elements}});
  const Buffer& made = core.buffers[buffer];
  core.Stop("ub-index", loc,
            {{"op", op},
             {"index", index},
             {"elements", elements},
             {"element_bytes", element_bytes},
             {"buffer_file", made.made.file},
             {"buffer_line", made.made.line},
             {"buffer_nth", made.nth}});
}

// Performs the delayed copies for which a scalar access waits. With auto_sync, the compiler makes the scalar unit wait
// for copies of the same bytes, except at SetValue of a global tensor (docs/zh/api, 同步控制/核内同步/关键特性说明).
GNT_COLD inline void WaitForCopies(Core& core, const ScalarAccess& access) {
  if (core.job->options.auto_sync != 0 || (access.space == Space::GM && access.access == Access::Write)) return;
  core.delayed->BeforeScalar(access.at, access.bytes, access.access != Access::Read);
}

// Logs a scalar read or write for the observers. It is not inlined, because the loops of a kernel need the registers.
// It is noexcept, because g++ keeps no float in a register across a call that may throw into a kernel: the kernel's
// TPipe has a destructor.
GNT_NOINLINE inline void LogScalar(Core& core, const ScalarAccess& access) noexcept {
  core.At(access.Place());
  if (core.scalars.storing) [[unlikely]]
    core.FlushStores();
  *core.scalars.next++ = access;
  if (core.scalars.Full()) [[unlikely]]
    core.FlushFullLog();
  if (core.delayed != nullptr) [[unlikely]]
    WaitForCopies(core, access);
}

// Counts or logs a scalar read or write within its tensor's bounds.
template <class T>
[[gnu::always_inline]] inline void NoteScalar(Core& core, const T* at, Space space, Access access, Loc loc) {
  if (space == Space::UB && core.scalars.Counts(at, access, loc)) [[likely]]
    return;
  LogScalar(core, {reinterpret_cast<const uint8_t*>(at), loc.file, loc.line, sizeof(T), space, access, kIsFloat<T>});
}

}  // namespace gn_twin

namespace AscendC {

template <class T>
class LocalTensor {
 public:
  using PrimType = T;

  LocalTensor() = default;
  // Makes the tensor of a buffer; not part of the Ascend C API. `buffer`: index into Core::buffers. `number`: of the
  // MadeTensor.
  LocalTensor(T* data, uint32_t elements, TPosition position, uint16_t buffer, uint32_t number)
      : data_(data), size_(elements), buffer_(buffer), position_(position), number_{number} {}

  // Makes a tensor of `elements` elements from byte `address` of the Unified Buffer on, without a TPipe (static-tensor
  // style). The memory belongs to no buffer, so only its bounds can be checked.
  LocalTensor(TPosition position, uint32_t address, uint32_t elements, gn_twin::Loc loc = gn_twin::Loc::here())
      : data_(reinterpret_cast<T*>(gn_twin::ThisCore().ub + address)), size_(elements), position_(position) {
    if constexpr (gn_twin::kObserved) {
      gn_twin::CheckPlace(gn_twin::ThisCore(), "LocalTensor", address, gn_twin::BytesOf<T>(elements), loc);
      number_ = {gn_twin::ThisCore().NoteTensor({loc, "LocalTensor"})};
    }
  }

  // Returns a view that starts `offset` elements later and ends where this view ends.
  LocalTensor operator[](uint32_t offset) const {
    LocalTensor view(data_ + offset / gn_twin::kPerByte<T>, offset < size_ ? size_ - offset : 0, position_, buffer_,
                     Number());
    view.shape_ = shape_;
    return view;
  }

  // Returns the number of elements of the view.
  uint32_t GetSize() const { return size_; }
  // Sets the logical length in elements. Stops if the tensor would reach beyond the end of the Unified Buffer.
  void SetSize(uint32_t elements, gn_twin::Loc loc = gn_twin::Loc::here()) {
    if constexpr (gn_twin::kObserved) {
      gn_twin::Core& core = gn_twin::ThisCore();
      const uint64_t room = core.InUb(data_) ? core.ub + gn_twin::kUbBytes - Bytes() : 0;
      if (gn_twin::BytesOf<T>(elements) > room) {
        core.Stop("ub-set-size", loc,
                  {{"elements", elements}, {"bytes", gn_twin::BytesOf<T>(elements)}, {"room", room}});
      }
    }
    size_ = elements;
  }
  uint32_t GetLength() const { return static_cast<uint32_t>(gn_twin::BytesOf<T>(size_)); }
  int32_t GetPosition() const { return static_cast<int32_t>(position_); }
  int32_t GetUserTag() const { return user_tag_; }
  void SetUserTag(int32_t tag) { user_tag_ = tag; }
  void SetShapeInfo(const ShapeInfo& info) { shape_ = gn_twin::ThisCore().shapes->Number(info); }
  ShapeInfo GetShapeInfo() const { return gn_twin::ThisCore().shapes->Shape(shape_); }

  T GetValue(uint32_t index, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    return *Element(index, "GetValue", gn_twin::Access::Read, loc);
  }
  template <class T1>
  void SetValue(uint32_t index, T1 value, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    gn_twin::ThisCore().NoteScalarValue("SetValue", loc, value);
    *Element(index, "SetValue", gn_twin::Access::Write, loc) = static_cast<T>(value);
  }
  __ubuf__ T& operator()(uint32_t index, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    T* const element = Element(index, "operator()", gn_twin::Access::ReadWrite, loc);
    if constexpr (gn_twin::kPointersSeen) {
      gn_twin::ThisCore().pointers.Note(buffer_, loc);
      gn_twin::ThisCore().pointers.NoteReference(element);
    }
    return *gn_twin::SpaceCast<__ubuf__ T*>(element);
  }

  // Returns the same bytes as elements of another type.
  template <class U>
  LocalTensor<U> ReinterpretCast() const {
    if constexpr (gn_twin::kObserved && sizeof(U) > sizeof(T))
      gn_twin::ThisCore().NoteWider({Bytes(), sizeof(T), sizeof(U)});
    return LocalTensor<U>(reinterpret_cast<U*>(data_),
                          static_cast<uint32_t>(gn_twin::ElementsIn<U>(gn_twin::BytesOf<T>(size_))), position_, buffer_,
                          Number());
  }
  // Returns a pointer to element `offset`, for functions that take pointers. Stops if the element lies after the end of
  // the tensor and outside its buffer; the buffer's end itself is allowed. Accesses through the pointer are observed
  // where the compiler can report them (tensor/pointer_hooks.h).
  __ubuf__ T* GetPhyAddr(uint32_t offset = 0, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    if (gn_twin::kObserved && offset > size_ && !InBuffer(gn_twin::ThisCore(), offset)) [[unlikely]]
      gn_twin::StopAtIndex(gn_twin::ThisCore(), "GetPhyAddr", offset, size_, sizeof(T), buffer_, loc);
    if constexpr (gn_twin::kPointersSeen) gn_twin::ThisCore().pointers.Note(buffer_, loc);
    return gn_twin::SpaceCast<__ubuf__ T*>(data_ + offset);
  }

  // Sets this view to the part of `other` that starts `offset` elements of U later, with this view's element type.
  template <class U>
  void SetAddrWithOffset(LocalTensor<U>& other, uint32_t offset) {
    *this = other[offset].template ReinterpretCast<T>();
  }

  T* Data() const { return data_; }
  uint8_t* Bytes() const { return reinterpret_cast<uint8_t*>(data_); }
  uint16_t BufferIndex() const { return buffer_; }
  uint32_t Number() const { return number_.value; }

  // Computes `dst = a + b`: an element-wise expression over the whole of dst (gn_twin/basic_api/vector/operators.h).
  template <class Expression>
    requires requires(const Expression& expression, LocalTensor& dst) { expression.Into(dst); }
  LocalTensor& operator=(const Expression& expression) {
    expression.Into(*this);
    return *this;
  }

 private:
  T* Element(uint32_t index, const char* op, gn_twin::Access access, gn_twin::Loc loc) const {
    if constexpr (gn_twin::kObserved) {
      gn_twin::Core& core = gn_twin::ThisCore();
      if (index >= size_) gn_twin::StopAtIndex(core, op, index, size_, sizeof(T), buffer_, loc);
      gn_twin::NoteScalar(core, data_ + index, gn_twin::Space::UB, access, loc);
    }
    return data_ + index;
  }

  // Whether the element is in the tensor's buffer, or at the buffer's end. SetSize may have made the tensor shorter
  // than its buffer.
  bool InBuffer(const gn_twin::Core& core, uint32_t index) const {
    if (buffer_ >= core.buffer_count) return false;
    const gn_twin::Buffer& buffer = core.buffers[buffer_];
    return core.UbOffset(reinterpret_cast<const uint8_t*>(data_ + index)) <= uint64_t{buffer.offset} + buffer.bytes;
  }

  T* data_ = nullptr;
  uint32_t size_ = 0;
  uint16_t buffer_ = gn_twin::kNoBuffer;
  TPosition position_ = TPosition::VECCALC;
  int32_t user_tag_ = 0;
  uint32_t shape_ = 0;  // index into Core::shapes
  [[no_unique_address]] gn_twin::TensorNumber<gn_twin::kObserved> number_;
};

template <class T>
class GlobalTensor {
 public:
  using PrimType = T;

  GlobalTensor() = default;

  // Makes this view start at `address`. The view and all that is made from it with [] belong to the kernel argument
  // that the address came from, also if it lies outside of this argument. `elements`: the number of elements that the
  // kernel intends to use from there; 0: unknown.
  void SetGlobalBuffer(__gm__ T* address, uint64_t elements) {
    data_ = gn_twin::SpaceCast<T*>(address);
    size_ = elements;
    if constexpr (gn_twin::kObserved) {
      argument_ = gn_twin::ArgumentOf(gn_twin::ThisCore(), data_);
    }
  }
  void SetGlobalBuffer(__gm__ T* address) { SetGlobalBuffer(address, 0); }

  GlobalTensor operator[](uint64_t offset) const {
    GlobalTensor view = *this;
    view.data_ = data_ + offset / gn_twin::kPerByte<T>;
    view.first_ = first_ + offset;
    return view;
  }
  // Returns the number of elements given to SetGlobalBuffer. A view made with [] keeps this number.
  uint64_t GetSize() const { return size_; }
  const __gm__ T* GetPhyAddr() const { return gn_twin::SpaceCast<const __gm__ T*>(data_); }
  __gm__ T* GetPhyAddr(uint64_t offset) const { return gn_twin::SpaceCast<__gm__ T*>(data_ + offset); }
  template <CacheRwMode rw = CacheRwMode::RW>
  void SetL2CacheHint(CacheMode mode) {
    cache_mode_ = mode;
  }
  CacheMode GetL2CacheHint() const { return cache_mode_; }
  void SetShapeInfo(const ShapeInfo& info) { shape_ = gn_twin::ThisCore().shapes->Number(info); }
  ShapeInfo GetShapeInfo() const { return gn_twin::ThisCore().shapes->Shape(shape_); }

  T GetValue(uint64_t index, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    return *Element(index, "GetValue", gn_twin::Access::Read, loc);
  }
  void SetValue(uint64_t index, T value, gn_twin::Loc loc = gn_twin::Loc::here()) {
    gn_twin::ThisCore().NoteScalarValue("SetValue", loc, value, true);
    *Element(index, "SetValue", gn_twin::Access::Write, loc) = value;
  }
  __gm__ T& operator()(uint64_t index, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    T* const element = Element(index, "operator()", gn_twin::Access::ReadWrite, loc);
    if constexpr (gn_twin::kPointersSeen) gn_twin::ThisCore().pointers.NoteReference(element);
    return *gn_twin::SpaceCast<__gm__ T*>(element);
  }

  T* Data() const { return data_; }

  // Whether `bytes` bytes from the start of this view lie inside the kernel argument, and inside the size that
  // SetGlobalBuffer declared, if it declared one.
  bool Holds(uint64_t bytes) const { return argument_ != nullptr && InArgument(bytes) && InDeclared(bytes); }
  const GntArg* Argument() const { return argument_; }
  // Returns how many of `bytes` bytes from the start of this view lie after the argument's end. Returns 0 if the view
  // is in no argument or begins at or after its end, if the bytes reach beyond the allocation (BytesBehind), or if the
  // size that SetGlobalBuffer declared ends before the argument does.
  uint64_t Behind(uint64_t bytes) const {
    if (argument_ == nullptr || argument_->bytes == 0 || argument_->element_bytes == 0) return 0;
    const uint64_t offset = static_cast<uint64_t>(reinterpret_cast<const uint8_t*>(data_) - argument_->data);
    const uint64_t room =
        (argument_->bytes + 2 * gn_twin::kBlockBytes - 1) / gn_twin::kBlockBytes * gn_twin::kBlockBytes;
    if (offset >= argument_->bytes || bytes > room - offset || bytes <= argument_->bytes - offset) return 0;
    return InDeclared(argument_->bytes - offset) && (size_ == 0 || InDeclared(bytes) || DeclaredToEnd())
               ? bytes - (argument_->bytes - offset)
               : 0;
  }
  // Reports `bytes` bytes from the start of this view, unless the view holds them.
  void Check(gn_twin::Core& core, const char* op, const char* role, uint64_t bytes, gn_twin::Loc loc) const {
    if (!Holds(bytes)) [[unlikely]]
      Check(core, op, role, bytes, loc, [](uint64_t, gn_twin::FieldList&) {});
  }
  // Reports `bytes` bytes that this view does not hold. explain(room, fields) adds to the facts of the finding. `room`:
  // bytes of the argument, or of the declared size, after the start of this view.
  template <class Explain>
  void Check(gn_twin::Core& core, const char* op, const char* role, uint64_t bytes, gn_twin::Loc loc,
             Explain explain) const {
    if (argument_ == nullptr) core.Stop("gm-unknown-address", loc, {{"op", op}, {"role", role}});
    if (!InArgument(bytes)) {
      const int64_t offset = reinterpret_cast<const uint8_t*>(data_) - argument_->data;
      gn_twin::FieldList fields{{"op", op},
                                {"role", role},
                                {"argument", gn_twin::NameOf(argument_)},
                                {"argument_bytes", argument_->bytes},
                                {"offset", offset},
                                {"bytes", bytes},
                                {"element_bytes", sizeof(T)}};
      AddElementType(offset, bytes, fields);
      if (offset == static_cast<int64_t>(argument_->bytes)) AddBeginsBehind(fields);
      if (InArgument(0)) explain(argument_->bytes - static_cast<uint64_t>(offset), fields);
      core.Stop("gm-out-of-bounds", loc, fields);
    }
    if (const uint64_t over = RoundedOver(op, bytes); over != 0) {
      core.Warn("gm-declared-rounded", loc, {},
                {{"op", op},
                 {"argument", gn_twin::NameOf(argument_)},
                 {"declared", size_},
                 {"over", over},
                 {"element_bytes", sizeof(T)}});
      return;
    }
    gn_twin::FieldList fields{{"op", op},
                              {"role", role},
                              {"argument", gn_twin::NameOf(argument_)},
                              {"declared", size_},
                              {"first", first_},
                              {"bytes", bytes},
                              {"element_bytes", sizeof(T)}};
    const uint64_t start =
        static_cast<uint64_t>(reinterpret_cast<const uint8_t*>(data_ - first_) - argument_->data) / sizeof(T);
    if (start != 0 && first_ >= start && first_ - start < size_) {
      fields.Add({"cause", "start-twice"});
      fields.Add({"start", start});
    }
    if (first_ == size_) AddBeginsBehind(fields);
    if (first_ < size_) explain((size_ - first_) * sizeof(T), fields);
    core.Refuse("gm-beyond-declared-size", loc, fields);
  }

 private:
  // Adds the cause if the array has smaller elements than T, and holds as many of them as are meant. Elements of one byte
  // may be anything, such as tiling data.
  GNT_COLD void AddElementType(int64_t offset, uint64_t bytes, gn_twin::FieldList& fields) const {
    const uint64_t each = argument_->element_bytes;
    if (each < 2 || each >= sizeof(T) || offset < 0) return;
    if ((static_cast<uint64_t>(offset) + bytes) / sizeof(T) * each > argument_->bytes) return;
    fields.Add({"cause", "element-type"});
    fields.Add({"type", gn_twin::TypeName<T>()});
    fields.Add({"array_element_bytes", each});
  }
  GNT_COLD static void AddBeginsBehind(gn_twin::FieldList& fields) {
    if (!fields.Has("cause")) fields.Add({"cause", "begins-behind"});
  }
  bool InArgument(uint64_t bytes) const {
    const uint8_t* begin = reinterpret_cast<const uint8_t*>(data_);
    const uint8_t* end = argument_->data + argument_->bytes;
    return begin >= argument_->data && begin <= end && bytes <= static_cast<uint64_t>(end - begin);
  }
  // Whether SetGlobalBuffer declared all elements up to the end of the argument.
  bool DeclaredToEnd() const {
    const uint8_t* const first = reinterpret_cast<const uint8_t*>(data_ - first_);
    return first + gn_twin::BytesOf<T>(size_) >= argument_->data + argument_->bytes;
  }
  // Returns by how many bytes a DataCopy exceeds the declared size, if it does so only because it copies whole 32-byte
  // blocks. Returns 0 in any other case.
  uint64_t RoundedOver(const char* op, uint64_t bytes) const {
    const uint64_t end = gn_twin::BytesOf<T>(first_) + bytes, declared = gn_twin::BytesOf<T>(size_);
    const bool rounded = __builtin_strcmp(op, "DataCopy") == 0 && bytes % gn_twin::kBlockBytes == 0;
    return rounded && end - declared < gn_twin::kBlockBytes ? end - declared : 0;
  }
  bool InDeclared(uint64_t bytes) const {
    return size_ == 0 || gn_twin::BytesOf<T>(first_) + bytes <= gn_twin::BytesOf<T>(size_);
  }
  T* Element(uint64_t index, const char* op, gn_twin::Access access, gn_twin::Loc loc) const {
    if constexpr (gn_twin::kObserved) {
      gn_twin::Core& core = gn_twin::ThisCore();
      core.At(loc);
      (*this)[index].Check(core, op, "this", sizeof(T), loc);
      core.scalars.in_gm = true;
      gn_twin::NoteScalar(core, data_ + index, gn_twin::Space::GM, access, loc);
      access == gn_twin::Access::Write ? gn_twin::NoteGlobalStore(core, op, data_ + index, sizeof(T), loc)
                                       : gn_twin::NoteGlobalRead(core, op, data_ + index, loc);
    }
    return data_ + index;
  }

  T* data_ = nullptr;
  uint64_t size_ = 0;
  uint64_t first_ = 0;  // element offset of this view from SetGlobalBuffer's address
  const GntArg* argument_ = nullptr;
  CacheMode cache_mode_ = CacheMode::CACHE_MODE_NORMAL;
  uint32_t shape_ = 0;  // index into Core::shapes
};

}  // namespace AscendC
