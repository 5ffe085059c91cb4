// An object pool (free list) shared by the launches of a library, because getting fresh pages takes longer than the
// work that most blocks do in them.
#pragma once
#include <pthread.h>
#include <stdint.h>

namespace gn_twin {

// Unused objects of type T, for all launches of this library on all threads. The last object returned is taken first,
// so the next block works in memory that is still in the host's caches. T::New() makes a T, or returns null if there is
// no memory; delete destroys it.
template <class T>
class ObjectPool {
 public:
  // Returns an unused object, or a new one; null if there is no memory.
  static T* Take() {
    pthread_mutex_lock(&mutex_);
    T* taken = count_ > 0 ? all_[--count_] : nullptr;
    pthread_mutex_unlock(&mutex_);
    return taken != nullptr ? taken : T::New();
  }
  static void Give(T* one) {
    pthread_mutex_lock(&mutex_);
    const bool room = count_ < kMost;
    if (room) all_[count_++] = one;
    pthread_mutex_unlock(&mutex_);
    if (!room) delete one;
  }

 private:
  static constexpr uint32_t kMost = 50;  // enough for the 48 vector cores of an Atlas A2 (gn_tutorial/machines/a2.toml)
  static inline constinit pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  static inline constinit T* all_[kMost] = {};
  static inline constinit uint32_t count_ = 0;
};

}  // namespace gn_twin
