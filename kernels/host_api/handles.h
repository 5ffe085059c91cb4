// What a caller holds: numbers that look like pointers, and a table from each number to its object.
//
// A handle is never followed as a pointer, and no number is given twice. So a handle that was destroyed, used up or never made is an
// error with a text, where a pointer would be a crash, and an object lives as long as any call works on it.
#pragma once
#include <pthread.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace gn_host {

template <class Object, class Handle>
class Table {
 public:
  Handle* Add(std::shared_ptr<Object> object) {
    std::lock_guard<std::mutex> lock(mutex_);
    const uintptr_t number = next_;
    objects_.emplace(number, std::move(object));
    next_ += kStep;
    return reinterpret_cast<Handle*>(number);
  }
  // Null if there is no such object.
  std::shared_ptr<Object> Find(const Handle* handle) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = objects_.find(reinterpret_cast<uintptr_t>(handle));
    return found == objects_.end() ? nullptr : found->second;
  }
  // The same, and the handle is worth nothing from now on. Of several threads one gets the object.
  std::shared_ptr<Object> Take(const Handle* handle) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = objects_.find(reinterpret_cast<uintptr_t>(handle));
    if (found == objects_.end()) return nullptr;
    std::shared_ptr<Object> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

  // The one table of a kind. It is never destroyed: streams may be working when the process ends.
  static Table& Only() {
    static Table* const only = [] {
      // A fork copies a lock as it is. It is taken first, so that the child does not wait for a thread that it does not have.
      Table* const made = new Table;
      pthread_atfork([] { Only().mutex_.lock(); }, [] { Only().mutex_.unlock(); }, [] { Only().mutex_.unlock(); });
      return made;
    }();
    return *only;
  }

 private:
  Table() = default;

  static constexpr uintptr_t kStep = 16;
  std::mutex mutex_;
  std::unordered_map<uintptr_t, std::shared_ptr<Object>> objects_;
  uintptr_t next_ = kStep;
};

}  // namespace gn_host
