// A stream: a queue, and a thread that works through it in order. A device that has a queue of its own needs neither: its work is handed
// over on the caller's thread, in the order of the calls.
#pragma once
#include <sys/types.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "device.h"
#include "handles.h"

namespace gn_host {

class Stream {
 public:
  using Work = std::function<Outcome(Device&)>;

  // Starts the thread, if the device needs one. Throws std::system_error if there is none to be had.
  explicit Stream(std::unique_ptr<Device> device);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Refuses a stream that was closed, or that belongs to the process this one was forked from: its thread is not here.
  Outcome Usable();
  Outcome Find(const char* entry);
  // What goes wrong on the stream's thread comes out of Synchronize; what a device's queue does not take is returned here.
  Outcome Submit(Work work);
  Outcome LaunchHostFunc(GnHostFunc fn, void* args);
  // Waits for all work submitted before; the first failure since the last one was returned.
  Outcome Synchronize();
  // Refuses what would wait for itself; otherwise `Close`, which only one caller may do: as Synchronize, then ends the thread.
  Outcome Closable();
  Outcome Close();
  // For what only one kind of device has.
  Device& device() { return *device_; }

 private:
  void Loop();
  Outcome Foreign() const;

  std::unique_ptr<Device> device_;
  std::mutex mutex_;
  std::condition_variable arrived_, done_;
  std::deque<Work> waiting_;
  uint64_t submitted_ = 0, finished_ = 0;
  bool closed_ = false;
  Outcome first_;  // failure that nobody has been told of
  pid_t owner_;
  std::thread thread_;
};

using Streams = Table<Stream, GnStream>;

}  // namespace gn_host
