// The state of 64-byte lines of global memory in the scalar units' data caches, in pages made on first touch.
#pragma once
#include <new>

#include "gn_twin/core/core.h"

namespace gn_twin {

// One line, as the scalar units see it. Bit i of a mask stands for byte i.
struct DataCacheLine {
  uint64_t dirty = 0;    // written by SetValue of `owner`, and not yet written back to global memory
  uint64_t written = 0;  // written by SetValue of `owner` in `epoch`
  const char* file = "";
  uint32_t source_line = 0;  // line of the last write
  uint32_t version = 0;      // number of changes in global memory by copies and by written-back lines
  uint32_t owner = 0;        // the block that last wrote with SetValue, plus 1; 0: none
  uint32_t epoch = 0;
  uint32_t interval = 0;  // the owner's interval when it wrote (HappensBefore)
  uint32_t cleans = 0;    // how many times the owner had cleaned its whole cache when it wrote
};

// A line, its number, and the mask of its accessed bytes.
struct GmPlace {
  DataCacheLine* line = nullptr;
  uint64_t number = 0;
  uint64_t bytes = 0;
};

// The lines of all arguments. They are counted from the start of each argument, because a device allocation aligns this
// start to a line; the host address does not matter. Pages are made on first touch, so a kernel that accesses global
// memory only by DMA costs nothing here.
class DataCacheLines {
 public:
  static constexpr uint32_t kLineBytes = 64;

  DataCacheLines() = default;
  ~DataCacheLines() {
    for (uint64_t i = 0; i < capacity_; ++i) delete[] pages_[i].lines;
    delete[] pages_;
  }
  DataCacheLines(const DataCacheLines&) = delete;
  DataCacheLines& operator=(const DataCacheLines&) = delete;

  bool Empty() const { return count_ == 0; }

  // Returns the line of `at`, created if needed, its number, and the mask of its bytes in [at, at + bytes). The
  // line is null if there is no memory, or if `at` is outside all arguments; the access is then not checked.
  GmPlace PlaceOf(const Core& core, const uint8_t* at, uint32_t bytes) {
    if (at < from_ || at >= to_) {
      const GntArg* arg = ArgumentAt(core, at);
      if (arg == nullptr) return {};
      from_ = arg->data;
      to_ = arg->data + arg->bytes;
      argument_ = static_cast<uint64_t>(arg - core.job->args);
    }
    const uint64_t offset = static_cast<uint64_t>(at - from_);
    const uint64_t number = argument_ << 48 | offset / kLineBytes;
    DataCacheLine* const page = PageOf(number / kPageLines);
    if (page == nullptr) return {};
    return {page + number % kPageLines, number, Mask(offset % kLineBytes, bytes)};
  }

  // Calls visit(line, mask) for the lines of [at, at + bytes) whose page exists.
  template <class Visit>
  void ForKnown(const Core& core, const uint8_t* at, uint64_t bytes, Visit visit) {
    const GntArg* arg = ArgumentAt(core, at);
    if (arg == nullptr || bytes == 0) return;
    const uint64_t argument = static_cast<uint64_t>(arg - core.job->args) << 48;
    const uint64_t begin = static_cast<uint64_t>(at - arg->data);
    const uint64_t end = begin + bytes;
    for (uint64_t line = begin / kLineBytes; line * kLineBytes < end;) {
      const uint64_t number = argument | line;
      DataCacheLine* page = Find(number / kPageLines);
      const uint64_t next_page = (line / kPageLines + 1) * kPageLines;
      if (page == nullptr) {
        line = next_page;
        continue;
      }
      for (; line < next_page && line * kLineBytes < end; ++line) {
        const uint64_t first = line * kLineBytes < begin ? begin - line * kLineBytes : 0;
        visit(page[line % kPageLines], Mask(first, end - line * kLineBytes - first));
      }
    }
  }

 private:
  static constexpr uint64_t kPageLines = 1024;
  struct Page {
    uint64_t number = 0;
    DataCacheLine* lines = nullptr;
  };

  static uint64_t Mask(uint64_t first, uint64_t bytes) {
    const uint64_t room = kLineBytes - first;
    const uint64_t count = bytes < room ? bytes : room;
    return (count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << first;
  }

  DataCacheLine* PageOf(uint64_t number) {
    if (last_ != nullptr && last_number_ == number) return last_;
    DataCacheLine* found = Find(number);
    if (found == nullptr) found = Make(number);
    last_ = found;
    last_number_ = number;
    return found;
  }
  uint64_t Slot(uint64_t number) const { return (number * 0x9e3779b97f4a7c15u >> 32) & (capacity_ - 1); }
  DataCacheLine* Find(uint64_t number) const {
    if (capacity_ == 0) return nullptr;
    for (uint64_t i = Slot(number); pages_[i].lines != nullptr; i = (i + 1) & (capacity_ - 1)) {
      if (pages_[i].number == number) return pages_[i].lines;
    }
    return nullptr;
  }
  DataCacheLine* Make(uint64_t number) {
    if (2 * (count_ + 1) > capacity_ && !Grow()) return nullptr;
    DataCacheLine* const lines = new (std::nothrow) DataCacheLine[kPageLines];
    return lines == nullptr ? nullptr : Place(number, lines);
  }
  DataCacheLine* Place(uint64_t number, DataCacheLine* lines) {
    uint64_t i = Slot(number);
    while (pages_[i].lines != nullptr) i = (i + 1) & (capacity_ - 1);
    pages_[i] = {number, lines};
    ++count_;
    return lines;
  }
  bool Grow() {
    Page* old = pages_;
    const uint64_t before = capacity_;
    const uint64_t more = before == 0 ? 64 : 2 * before;
    Page* const pages = new (std::nothrow) Page[more];
    if (pages == nullptr) return false;
    pages_ = pages;
    capacity_ = more;
    count_ = 0;
    for (uint64_t i = 0; i < before; ++i) {
      if (old[i].lines != nullptr) Place(old[i].number, old[i].lines);
    }
    delete[] old;
    return true;
  }

  Page* pages_ = nullptr;
  uint64_t capacity_ = 0;  // a power of two
  uint64_t count_ = 0;
  DataCacheLine* last_ = nullptr;
  uint64_t last_number_ = 0;
  // The argument of the last access.
  const uint8_t* from_ = nullptr;
  const uint8_t* to_ = nullptr;
  uint64_t argument_ = 0;
};

}  // namespace gn_twin
