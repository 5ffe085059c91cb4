// An object pool (free list) shared by the launches of a library: fresh pages cost more than what most blocks do with them.
#pragma once
#include <pthread.h>
#include <stdint.h>

namespace gn_twin {

// Objects of type T that nobody uses at present, for all launches of this library on all threads. What was given last is taken first:
// the next block works where the one before it ended, in memory that is still in the host's caches. T is made by T::New(), which
// returns null if there is no memory, and ended by delete.
template <class T>
class ObjectPool {
 public:
  // Null if there is none, and no memory for one.
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
  static constexpr uint32_t kMost = 50;  // the vector cores of the largest device that config.h knows
  static inline constinit pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  static inline constinit T* all_[kMost] = {};
  static inline constinit uint32_t count_ = 0;
};

}  // namespace gn_twin
