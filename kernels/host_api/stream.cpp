// Streams and the functions of the C interface that are about them.
#include "stream.h"

#include <unistd.h>

namespace gn_host {

Stream::Stream(std::unique_ptr<Device> device) : device_(std::move(device)), owner_(getpid()) {
  if (!device_->HasQueue()) thread_ = std::thread([this] { Loop(); });
}

Stream::~Stream() {
  if (owner_ == getpid()) {
    Close();
  } else {
    new std::thread(std::move(thread_));  // no such thread in this process: nothing to join, and ending it would abort
  }
}

Outcome Stream::Foreign() const {
  if (owner_ == getpid()) return {};
  return Invalid("stream belongs to the process that this one was forked from", "make a stream of its own after fork");
}

Outcome Stream::Usable() {
  if (Outcome wrong = Foreign(); wrong.Failed())
    return wrong;  // before the lock, which may have been copied while held
  std::lock_guard<std::mutex> lock(mutex_);
  return closed_ ? Invalid("stream is being destroyed", "make another one") : Outcome{};
}

Outcome Stream::Find(const char* entry) {
  if (Outcome wrong = Foreign(); wrong.Failed()) return wrong;
  return device_->Find(entry);
}

Outcome Stream::Submit(Work work) {
  if (Outcome wrong = Foreign(); wrong.Failed()) return wrong;
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return Invalid("stream is being destroyed", "make another one");
  if (device_->HasQueue()) {  // under the lock: two threads' launches do not mix
    Outcome outcome = work(*device_);
    // A caller who was refused gives the workspace back: nothing may be left in the queue that writes to it.
    if (outcome.Failed()) device_->Synchronize();
    return outcome;
  }
  waiting_.push_back(std::move(work));
  ++submitted_;
  arrived_.notify_one();
  return {};
}

Outcome Stream::LaunchHostFunc(GnHostFunc fn, void* args) {
  if (device_->HasQueue()) return Submit([fn, args](Device& device) { return device.LaunchHostFunc(fn, args); });
  return Submit([fn, args](Device&) -> Outcome {
    fn(args);
    return {};
  });
}

Outcome Stream::Synchronize() {
  if (Outcome wrong = Foreign(); wrong.Failed()) return wrong;
  if (device_->HasQueue()) return device_->Synchronize();  // without the lock: others may submit meanwhile
  if (thread_.get_id() == std::this_thread::get_id())
    return Invalid("a host function waits for its own stream, which waits for it", "call this from another thread");
  std::unique_lock<std::mutex> lock(mutex_);
  const uint64_t until = submitted_;
  done_.wait(lock, [&] { return finished_ >= until; });
  Outcome first = std::move(first_);
  first_ = {};
  return first;
}

Outcome Stream::Closable() {
  if (Outcome wrong = Foreign(); wrong.Failed()) return wrong;
  if (thread_.get_id() == std::this_thread::get_id())
    return Invalid("a host function destroys its own stream", "call this from another thread");
  return {};
}

Outcome Stream::Close() {
  std::unique_lock<std::mutex> lock(mutex_);
  const bool again = closed_;
  closed_ = true;
  // A second time the queue may belong to nobody any more: a stream that was wrapped is its maker's to destroy.
  if (device_->HasQueue()) return again ? Outcome{} : device_->Synchronize();
  arrived_.notify_all();
  lock.unlock();
  if (thread_.joinable()) thread_.join();
  lock.lock();
  Outcome first = std::move(first_);
  first_ = {};
  return first;
}

void Stream::Loop() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    arrived_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    Work work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    Outcome outcome;
    try {
      outcome = work(*device_);
    } catch (const std::bad_alloc&) {
      outcome.code = GN_ERR_INNER;  // no text: that would take memory
    } catch (const std::exception& error) {
      outcome = {GN_ERR_INNER, error.what(), "", ""};
    }
    work = nullptr;  // what it holds goes before the wait for it ends
    lock.lock();
    ++finished_;
    if (outcome.Failed() && !first_.Failed()) first_ = std::move(outcome);
    done_.notify_all();
  }
}

namespace {

constexpr const char* kMake = "pass what GnCreateStream returned";

// The stream of a handle, for a call that does `body` with it.
template <class Body>
Outcome With(const GnStream* stream, Body&& body) {
  if (stream == nullptr) return Null("stream is null", kMake);
  const std::shared_ptr<Stream> queue = Streams::Only().Find(stream);
  if (queue == nullptr) return Invalid("stream was destroyed, or never made", kMake);
  return body(*queue);
}

}  // namespace
}  // namespace gn_host

extern "C" GnStatus GnCreateStream(GnStream** stream) {
  using namespace gn_host;
  return Guarded("GnCreateStream", [&]() -> Outcome {
    if (stream == nullptr) return Null("stream is null", "pass the address of a GnStream*");
    *stream = Streams::Only().Add(std::make_shared<Stream>(OpenDevice()));
    return {};
  });
}

extern "C" GnStatus GnSynchronizeStream(GnStream* stream) {
  using namespace gn_host;
  return Guarded("GnSynchronizeStream",
                 [&] { return With(stream, [](Stream& queue) { return queue.Synchronize(); }); });
}

extern "C" GnStatus GnDestroyStream(GnStream* stream) {
  using namespace gn_host;
  return Guarded("GnDestroyStream", [&] {
    return With(stream, [&](Stream& queue) -> Outcome {
      if (Outcome wrong = queue.Closable(); wrong.Failed()) return wrong;
      // Of two threads that destroy it, one gets it.
      if (Streams::Only().Take(stream) == nullptr) return Invalid("stream was destroyed, or never made", kMake);
      return queue.Close();
    });
  });
}

extern "C" GnStatus GnLaunchHostFunc(GnStream* stream, GnHostFunc fn, void* args) {
  using namespace gn_host;
  return Guarded("GnLaunchHostFunc", [&] {
    return With(stream, [&](Stream& queue) -> Outcome {
      if (fn == nullptr) return Null("fn is null");
      return queue.LaunchHostFunc(fn, args);
    });
  });
}
