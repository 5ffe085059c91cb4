// The state of one core's Unified Buffer for the memory checker: validity, stale and freed blocks, unread results.
#pragma once
#include "gn_twin/events/event.h"
#include "gn_twin/shadow/byte_state.h"
#include "gn_twin/shadow/last_writes.h"
#include "gn_twin/shadow/per_core.h"

namespace gn_twin {

// The origin of missing values: the instruction that first read unwritten memory.
struct Origin {
  uint32_t first = 0;  // the range of the Unified Buffer that its results went to
  uint32_t end = 0;
  uint32_t missing = 0;  // the unwritten byte that it read
  uint32_t reads_begin = 0;
  uint32_t reads_end = 0;  // one past the last byte that it read; 0: unknown
  uint8_t element_bytes = 0;
  Loc loc;
  const char* op = "";
  const char* role = "";
  bool stale = false;  // the byte held a value before AllocTensor
  Extent extent;       // of what it read
};

// The last instruction that wrote a run of whole blocks.
struct Writer {
  Loc loc;
  const char* op = "";
  uint32_t call = 0;    // a CachedCall's number, or 0; for a load ~(bytes of a row in global memory)
  uint16_t tensor = 0;  // as in Operand; for a cached call that of its event
  uint16_t blocks : 14 = 0;
  bool load : 1 = false;
  bool seen : 1 = false;  // results that this line wrote here earlier were read
};
static_assert(kUbBytes / kBlockBytes < 1 << 14);

// The line that wrote results, and the line that overwrote them before anything read them.
struct Overwritten {
  Loc writer;
  Loc now;
  bool Is(Loc a, Loc b) const {
    return writer.line == a.line && now.line == b.line && writer.file == a.file && now.file == b.file;
  }
};

// Results that nothing had read when FreeTensor released them. `buffer`: a copy of the buffer's state at that time,
// because another TPipe may reuse its memory.
struct FreedUnread {
  Writer writer;
  Loc freed;
  Buffer buffer;
};

struct UbState {
  static constexpr uint32_t kBlocks = kUbBytes / kBlockBytes;
  static constexpr uint32_t kOrigins = 32;

  ByteState bytes;   // bytes that hold a value
  BlockBits stale;   // blocks that held a value before the last AllocTensor
  BlockBits freed;   // blocks that belong to a tensor after FreeTensor
  BlockBits unread;  // blocks that an instruction with sources wrote, and nothing has read since
  BlockBits starts;  // the first block of each such write; `writers` has an entry there
  Writer writers[kBlocks];
  LastWrites writes;
  Overwritten overwritten;  // the latest such pair of lines
  Origin origins[kOrigins];
  uint32_t next_origin = 0;
  bool any_origin = false;
  bool any_freed = false;
  bool stored = false;  // something was copied to global memory
  static constexpr uint32_t kFreedUnread = 4;
  FreedUnread freed_unread[kFreedUnread];
  uint32_t freed_unread_count = 0;

  bool Allocate() {
    return bytes.Allocate(kUbBytes) && stale.Allocate(kBlocks) && freed.Allocate(kBlocks) && unread.Allocate(kBlocks) &&
           starts.Allocate(kBlocks);
  }
  void Restart() {
    bytes.Clear(0, kUbBytes);
    for (BlockBits* bits : {&stale, &freed, &unread, &starts}) bits->ClearAll();
    for (Origin& origin : origins) origin = Origin{};
    any_origin = any_freed = stored = false;
    freed_unread_count = 0;
    writes.Restart();
    overwritten = {};
  }
  // Returns the first block of the bytes [begin, end) that belongs to a freed tensor; kBlocks if none does.
  uint64_t FirstFreed(uint64_t begin, uint64_t end) const {
    if (any_freed)
      for (uint64_t block = begin / kBlockBytes; block * kBlockBytes < end; ++block)
        if (freed.Has(block)) return block;
    return kBlocks;
  }
  // Marks the blocks from `first` on as read, up to the first one that lacks values, is freed, or begins an unread
  // write. Returns that block; kBlocks if there is none.
  uint64_t ReadOn(uint64_t first) {
    unread.Clear(first);
    uint64_t stops = 0;
    uint64_t word = first / 64;
    for (uint64_t mask = ~uint64_t{0} << (first % 64); word < kBlocks / 64; ++word, mask = ~uint64_t{0}) {
      const uint64_t begins = unread.Words()[word] & starts.Words()[word];
      stops = (~bytes.Full().Words()[word] | freed.Words()[word] | begins) & mask;
      if (stops != 0) break;
    }
    const uint64_t end = stops == 0 ? kBlocks : word * 64 + static_cast<uint32_t>(__builtin_ctzll(stops));
    unread.ClearAll(first, end);
    return end;
  }
  // Called when AllocTensor allocates [first, end) again. Marks as stale those blocks in it that hold values.
  void GrowStale(uint64_t first, uint64_t end) {
    uint64_t* old = stale.Words();
    bytes.ForSome(first, end, [&](uint64_t word, uint64_t some) { old[word] |= some; });
  }
  // Marks blocks as read; returns whether all their bytes hold values.
  [[gnu::always_inline]] bool ReadBlocks(const BlockSpan& blocks) {
    const uint64_t* full = bytes.Full().Words();
    uint64_t* waiting = unread.Words();
    uint64_t missing = 0;
    ForWords(blocks, [&](uint64_t word, uint64_t mask) {
      missing |= ~full[word] & mask;
      waiting[word] &= ~mask;
    });
    return missing == 0;
  }
  // Marks bytes with gaps as read; returns whether all of them hold values.
  [[gnu::always_inline]] bool ReadMasked(const ByteMasks& masks) {
    const uint64_t* full = bytes.Full().Words();
    uint64_t* waiting = unread.Words();
    uint64_t missing = 0;
    uint64_t partly = 0;
    masks.ForWords([&](uint64_t word, uint64_t whole, uint64_t touched) {
      missing |= ~full[word] & whole;
      partly |= ~full[word] & touched;
      waiting[word] &= ~touched;
    });
    return partly == 0 || (missing == 0 && bytes.HasParts(masks));
  }
  // Marks a run as read; returns whether all of it holds values.
  bool Read(uint64_t at, uint64_t size) {
    return size == 0 || ReadBlocks(BlockSpan::OfBytes(at, at + size)) || bytes.FirstMissing(at, size) == at + size;
  }
  // Marks as read `count` pieces of `piece` bytes (at most a block), at offsets[i] bytes from `at`. All lie in the
  // `size` bytes from `at`. Returns false, and marks nothing, if one of the `size` bytes may lack a value.
  bool ReadPieces(uint64_t at, uint64_t size, const uint32_t* offsets, uint32_t count, uint64_t piece) {
    const BlockSpan all = BlockSpan::OfBytes(at, at + size);
    const uint64_t* full = bytes.Full().Words();
    uint64_t missing = 0;
    uint64_t waiting = 0;
    ForWords(all, [&](uint64_t word, uint64_t mask) {
      missing |= ~full[word] & mask;
      waiting |= unread.Words()[word] & mask;
    });
    if (waiting != 0 && missing == 0 && count != 0 && OneWrite(at / kBlockBytes, (at + size - 1) / kBlockBytes)) {
      unread.Clear((at + offsets[0]) / kBlockBytes);  // enough: results count as lost only if no block of them is read
      return true;
    }
    for (uint32_t i = 0; missing == 0 && waiting != 0 && i < count; ++i) {
      unread.Clear((at + offsets[i]) / kBlockBytes);
      unread.Clear((at + offsets[i] + piece - 1) / kBlockBytes);
    }
    return missing == 0;
  }
  // Whether the blocks from `first` to `last` are results of a single write.
  bool OneWrite(uint64_t first, uint64_t last) const {
    const uint64_t begin = starts.LastUpTo(last);
    return begin <= first && begin + writers[begin].blocks > last;
  }
  // Marks a run as written by an instruction whose results need not be read.
  void Write(uint64_t at, uint64_t size) {
    bytes.Set(at, size);
    unread.ClearAll(at / kBlockBytes, (at + size + kBlockBytes - 1) / kBlockBytes);
  }
  // Marks bytes with gaps between them as written in the same way.
  [[gnu::always_inline]] void WriteMasked(const ByteMasks& masks) {
    uint64_t* full = bytes.FullWords();
    uint64_t* waiting = unread.Words();
    uint64_t partly = 0;
    masks.ForWords([&](uint64_t word, uint64_t whole, uint64_t touched) {
      full[word] |= whole;
      partly |= ~full[word] & touched;
      waiting[word] &= ~touched;
    });
    if (partly != 0) bytes.SetParts(masks);
  }
  // Marks whole blocks as written in the same way.
  void WriteBlocks(const BlockSpan& blocks) {
    uint64_t* full = bytes.FullWords();
    uint64_t* waiting = unread.Words();
    ForWords(blocks, [&](uint64_t word, uint64_t mask) {
      full[word] |= mask;
      waiting[word] &= ~mask;
    });
  }
  // Marks whole blocks from `first` on as filled again by the instruction that filled them before.
  [[gnu::always_inline]] void Renew(uint64_t first, const BlockSpan& blocks) {
    uint64_t* full = bytes.FullWords();
    uint64_t* waiting = unread.Words();
    uint64_t* begins = starts.Words();
    uint64_t begin = uint64_t{1} << first % 64;
    ForWords(blocks, [&](uint64_t word, uint64_t mask) {
      full[word] |= mask;
      waiting[word] |= mask;
      begins[word] = (begins[word] & ~mask) | begin;
      begin = 0;
    });
  }
  // Whether one of the blocks holds unread results.
  bool Waits(const BlockSpan& blocks) const {
    uint64_t waiting = 0;
    ForWords(blocks, [&](uint64_t word, uint64_t mask) { waiting |= unread.Words()[word] & mask; });
    return waiting != 0;
  }
  // Returns the first block of the write to which an unread block belongs; kBlocks if the block was read, or the write
  // was overwritten.
  uint64_t UnreadWrite(uint64_t block) const {
    if (!unread.Has(block)) return kBlocks;
    const uint64_t begin = starts.LastUpTo(block);
    return begin <= block && begin + writers[begin].blocks > block ? begin : kBlocks;
  }
  // Whether all blocks of the write that began at `begin` are unchanged and unread.
  bool IsUntouched(uint64_t begin) const {
    const uint64_t end = begin + writers[begin].blocks;
    bool one = true;
    for (uint64_t block = begin + 1; block < end; ++block) one = one && !starts.Has(block);
    return one && unread.HasAll(begin, end);
  }
  // Marks `count` whole blocks from `first` on as filled with results. Returns whether they replace exactly the blocks
  // of one earlier write, and none of these was read since.
  bool Replace(uint64_t first, const BlockSpan& blocks, uint32_t count) {
    uint64_t* full = bytes.FullWords();
    uint64_t* waiting = unread.Words();
    uint64_t* begins = starts.Words();
    uint64_t read = starts.Has(first) && writers[first].blocks == count ? 0 : 1;
    uint64_t begin = uint64_t{1} << first % 64;
    ForWords(blocks, [&](uint64_t word, uint64_t mask) {
      full[word] |= mask;
      read |= ~waiting[word] & mask;
      waiting[word] |= mask;
      begins[word] = (begins[word] & ~mask) | begin;
      begin = 0;
    });
    return read == 0;
  }

  // Returns the origin of a missing byte: an earlier instruction, or else the given one, which is the first to read it.
  Origin OriginOf(uint64_t at, Loc loc, const char* op, const char* role, uint64_t reads_begin, uint64_t reads_end,
                  uint8_t element_bytes) const {
    for (uint32_t i = 1; i <= kOrigins; ++i) {  // the latest first
      const Origin& origin = origins[(next_origin + kOrigins - i) % kOrigins];
      if (at >= origin.first && at < origin.end) return origin;
    }
    return {0,
            0,
            static_cast<uint32_t>(at),
            static_cast<uint32_t>(reads_begin),
            static_cast<uint32_t>(reads_end),
            element_bytes,
            loc,
            op,
            role,
            stale.Has(at / kBlockBytes),
            {}};
  }
  // Forgets the origins of missing bytes in [first, end). The next instruction that reads them becomes their origin.
  void Forget(uint64_t first, uint64_t end) {
    if (!any_origin) return;
    for (Origin& origin : origins)
      if (origin.first < end && first < origin.end) origin = Origin{};
  }
  // Notes that the bytes [at, at + bytes) are results of an instruction that read missing bytes. `origin`: the origin
  // of the missing bytes.
  void Remember(Origin origin, uint64_t at, uint64_t bytes) {
    origin.first = static_cast<uint32_t>(at);
    origin.end = static_cast<uint32_t>(at + bytes);
    origins[next_origin] = origin;
    any_origin = true;
    next_origin = (next_origin + 1) % kOrigins;
  }
};

}  // namespace gn_twin
