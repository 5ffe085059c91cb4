// Attributes of one call, as tiling and inference read them: gert::RuntimeAttrs and the lists that it returns.
//
// Source: the graph engine's documentation (gert::RuntimeAttrs, ContinuousVector). Attributes are in the order of their
// declaration; an int is stored as int64_t, a float as float, a string as characters. A device does not check the T of
// GetAttrPointer<T>, so an attribute that is read as another type gives other numbers there. The twin notes such a read
// for the report (attribute-type), unless T is an integer of 4 or 8 bytes for an int, or a ContinuousVectorVector.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <string>
#include <type_traits>
#include <vector>

#include "gn_twin/op_host/notes.h"

namespace gert {

// A list of contiguous numbers, whose memory belongs to the attribute.
class ContinuousVector {
 public:
  size_t GetSize() const { return many_; }
  size_t GetCapacity() const { return many_; }
  const void* GetData() const { return data_; }

 protected:
  friend class RuntimeAttrs;
  size_t many_ = 0;
  const void* data_ = nullptr;
};

template <class T>
class TypedContinuousVector : public ContinuousVector {
 public:
  const T* GetData() const { return static_cast<const T*>(data_); }
};

class ContinuousVectorVector {
 public:
  size_t GetSize() const { return rows_.size(); }
  const ContinuousVector* Get(size_t index) const { return index < rows_.size() ? &rows_[index] : nullptr; }

 private:
  friend class RuntimeAttrs;
  std::vector<ContinuousVector> rows_;
};

class RuntimeAttrs {
 public:
  enum class Kind : uint8_t { Int, Float, Bool, String, ListInt, ListFloat, ListBool, ListListInt };

  size_t GetAttrNum() const { return values_.size(); }

  template <class T>
  const T* GetAttrPointer(size_t index, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    gn_twin::op_host::At(loc, "GetAttrPointer");
    const Value* value = At(index);
    if (value == nullptr) return nullptr;
    if constexpr (std::is_base_of_v<ContinuousVector, T>) {
      if (value->kind < Kind::ListInt || value->kind > Kind::ListBool) Mistyped(index, *value, "a list", loc);
      return static_cast<const T*>(&value->list);
    } else if constexpr (std::is_same_v<T, ContinuousVectorVector>) {
      return &value->lists;
    } else {
      if (!Holds<T>(value->kind)) Mistyped(index, *value, NameOf<T>(), loc);
      return reinterpret_cast<const T*>(value->bytes.data());
    }
  }
  const int64_t* GetInt(size_t index, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    return GetAttrPointer<int64_t>(index, loc);
  }
  const float* GetFloat(size_t index, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    return GetAttrPointer<float>(index, loc);
  }
  const bool* GetBool(size_t index, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    return GetAttrPointer<bool>(index, loc);
  }
  const char* GetStr(size_t index, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    return GetAttrPointer<char>(index, loc);
  }
  const TypedContinuousVector<int64_t>* GetListInt(size_t index, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    return GetAttrPointer<TypedContinuousVector<int64_t>>(index, loc);
  }
  const TypedContinuousVector<float>* GetListFloat(size_t index, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    return GetAttrPointer<TypedContinuousVector<float>>(index, loc);
  }
  const TypedContinuousVector<bool>* GetListBool(size_t index, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    return GetAttrPointer<TypedContinuousVector<bool>>(index, loc);
  }
  const ContinuousVectorVector* GetListListInt(size_t index, gn_twin::Loc loc = gn_twin::Loc::here()) const {
    return GetAttrPointer<ContinuousVectorVector>(index, loc);
  }

  // Appends an attribute. The driver appends in the order of the declaration. `bytes` are the bytes of one value, or of
  // a list's `many` elements.
  void Append(Kind kind, std::vector<uint8_t> bytes, size_t many) {
    values_.push_back(new Value{kind, static_cast<std::vector<uint8_t>&&>(bytes), {}, {}});
    values_.back()->list.many_ = many;
    values_.back()->list.data_ = values_.back()->bytes.data();
  }
  void AppendRows(std::vector<uint8_t> bytes, const std::vector<size_t>& rows) {
    Append(Kind::ListListInt, static_cast<std::vector<uint8_t>&&>(bytes), 0);
    const uint8_t* at = values_.back()->bytes.data();
    for (size_t many : rows) {
      ContinuousVector row;
      row.many_ = many;
      row.data_ = at;
      at += many * sizeof(int64_t);
      values_.back()->lists.rows_.push_back(row);
    }
  }

 private:
  // One attribute. It is never freed, because a process makes only one call.
  struct Value {
    Kind kind;
    std::vector<uint8_t> bytes;
    ContinuousVector list;
    ContinuousVectorVector lists;
  };

  const Value* At(size_t index) const { return index < values_.size() ? values_[index] : nullptr; }

  template <class T>
  static constexpr bool Holds(Kind kind) {
    using Plain = std::remove_cv_t<T>;
    switch (kind) {
      case Kind::Int:
        return std::is_integral_v<Plain> && sizeof(Plain) <= 8 && !std::is_same_v<Plain, bool> && sizeof(Plain) >= 4;
      case Kind::Float: return std::is_same_v<Plain, float>;
      case Kind::Bool: return std::is_same_v<Plain, bool>;
      case Kind::String: return std::is_same_v<Plain, char>;
      default: return false;
    }
  }
  template <class T>
  static const char* NameOf() {
    using Plain = std::remove_cv_t<T>;
    if (std::is_same_v<Plain, bool>) return "bool";
    if (std::is_same_v<Plain, float>) return "float";
    if (std::is_same_v<Plain, double>) return "double";
    if (std::is_same_v<Plain, char>) return "a string";
    return std::is_integral_v<Plain> ? "an integer" : "another type";
  }
  static const char* NameOf(Kind kind) {
    static constexpr const char* kNames[] = {
        "int64_t",           "float",           "bool",           "a string",
        "a list of int64_t", "a list of float", "a list of bool", "a list of lists of int64_t"};
    return kNames[static_cast<size_t>(kind)];
  }
  void Mistyped(size_t index, const Value& value, const char* read_as, gn_twin::Loc loc) const {
    gn_twin::op_host::Note(
        "attribute-type", loc,
        "attribute " + std::to_string(index) + " is stored as " + NameOf(value.kind) + " and read as " + read_as);
  }

  std::vector<Value*> values_;
};

}  // namespace gert
