// The access history of one Unified Buffer: the last accesses to each byte, pipe by pipe.
//
// A kernel's loop touches the same few ranges again and again. So each lane keeps its latest accesses as ranges, and
// renewing a range takes the same time for any length and any gaps. A replaced range that no later access covers is
// painted into a map with one stamp per 32 bytes (a granule). If the range begins or ends inside a granule, a mask says
// which bytes it touched, so that neighbours in one granule give no false alarm. An access of a later window to other
// bytes of a granule replaces its stamp and mask. A race there can be missed, but no false one is reported.
#pragma once
#include <stdlib.h>

#include "gn_twin/events/byte_masks.h"
#include "gn_twin/shadow/vector_clock.h"
#include "gn_twin/shadow/gathers.h"
#include "gn_twin/shadow/lane_stamps.h"

namespace gn_twin {

class UbAccesses {
 public:
  // calloc gives zero pages of the operating system, so lanes that no access uses cost nothing.
  UbAccesses() : lanes_(static_cast<Lane*>(calloc(kAccessLanes, sizeof(Lane)))) {}
  ~UbAccesses() { free(lanes_); }
  UbAccesses(const UbAccesses&) = delete;
  UbAccesses& operator=(const UbAccesses&) = delete;
  bool Ready() const { return lanes_ != nullptr; }

  // Calls visit(lane) for the reads of an access and for its writes.
  template <class Visit>
  static void ForLanesOf(uint32_t pipe, Access access, Visit visit) {
    if (access != Access::Write) visit(LaneOf(pipe, false));
    if (access != Access::Read) visit(LaneOf(pipe, true));
  }
  // Returns the newest stamp of each lane.
  const LaneStamps& Last() const { return last_; }

  // Returns a stamp newer than `seen` on bytes of the range, or 0; sets `at` to the first such byte.
  GNT_NOINLINE Stamp Newer(uint32_t index, Stamp seen, LocalRange range, uint32_t& at) const {
    if (last_.of[index] <= seen || range.begin >= range.end) return 0;
    const Lane& lane = lanes_[index];
    for (uint32_t i = 0; i < lane.count; ++i) {
      const Recent& recent = lane.recent[i];
      const LocalRange& known = recent.rows.range;
      if (recent.stamp <= seen || known.begin >= range.end || range.begin >= known.end) continue;
      const uint32_t first = recent.rows.FirstIn(range);
      if (first == range.end) continue;
      at = first;
      return recent.stamp;
    }
    if (index == kGathers)
      if (const Stamp stamp = gathers_.Newer(seen, range, at); stamp != 0) return stamp;
    return lane.painted <= seen ? 0 : OnMap(lane, seen, range, at);
  }

  GNT_NOINLINE void Mark(uint32_t index, Stamp stamp, const StridedRange& rows) {
    if (rows.range.begin >= rows.range.end) return;
    last_.of[index] = stamp;
    Lane& lane = lanes_[index];
    // Loops renew ranges in the order in which they made them, or go from row to row. So each search begins where the
    // last search for the same call ended.
    uint8_t& place = lane.places[SiteOf(stamp) % kPlaces];
    for (uint32_t step = 0, i = place; step < lane.count; ++step, i = i + 1 < lane.count ? i + 1 : 0) {
      Recent& recent = lane.recent[i];
      if (recent.stamp == stamp && recent.rows.Append(rows)) {
        place = static_cast<uint8_t>(i);
        return;
      }
      if (!(recent.rows == rows)) continue;
      recent.stamp = stamp;
      place = static_cast<uint8_t>(i + 1 < lane.count ? i + 1 : 0);
      return;
    }
    place = static_cast<uint8_t>(lane.count < kRecent ? lane.count : lane.oldest);
    if (lane.count < kRecent) {
      lane.recent[lane.count++] = {rows, stamp};
      return;
    }
    Recent& leaves = lane.recent[lane.oldest];
    if (!IsPast(lane, leaves)) Paint(lane, leaves.stamp, leaves.rows);
    leaves = {rows, stamp};
    lane.oldest = lane.oldest + 1 < kRecent ? lane.oldest + 1 : 0;
  }

  // Marks one of many runs; MarkMasked marks all runs of an operand. Both paint the map at once, because many runs
  // would displace other accesses from the recent ranges.
  void MarkRun(uint32_t index, Stamp stamp, LocalRange run) {
    last_.of[index] = stamp;
    Paint(lanes_[index], stamp, run);
  }
  GNT_NOINLINE void MarkMasked(uint32_t index, Stamp stamp, LocalRange range, const ByteMasks& masks) {
    last_.of[index] = stamp;
    Lane& lane = lanes_[index];
    PaintPages(lane, stamp, range);
    masks.ForWords([&](uint64_t word, uint64_t whole, uint64_t) {
      ForBits(whole, [&](uint32_t bit) { PaintWhole(lane, stamp, static_cast<uint32_t>(word * 64 + bit)); });
    });
    masks.ForParts([&](uint32_t block, uint32_t mask) { PaintPart(lane, stamp, block, mask); });
  }

  // Marks the pieces of a gather or scatter. Reads of the vector pipe stay a list of offsets until a newer gather needs
  // the list's place. The old list is then painted, unless its stamp is at most `settled`: all pipes have waited for
  // such a gather. Pieces of other lanes are painted at once.
  GNT_NOINLINE void MarkPieces(uint32_t index, Stamp stamp, const GatherRanges& pieces, Stamp settled) {
    if (pieces.range.begin >= pieces.range.end) return;
    last_.of[index] = stamp;
    Lane& lane = lanes_[index];
    if (index != kGathers) return PaintPieces(lane, stamp, pieces);
    if (Gathers::One* const same = gathers_.Find(pieces); same != nullptr) {
      same->stamp = stamp;
      return;
    }
    Gathers::One& place = gathers_.Oldest();
    if (place.stamp > settled) PaintPieces(lane, place.stamp, place.pieces.Get());
    if (!Gathers::Keep(place, stamp, pieces)) PaintPieces(lane, stamp, pieces);
  }

  GNT_COLD void Restart() {
    gathers_.Restart();
    for (uint32_t i = 0; i < kAccessLanes; ++i) {
      if (last_.of[i] == 0) continue;
      last_.of[i] = lanes_[i].painted = 0;
      lanes_[i].count = lanes_[i].oldest = 0;
      __builtin_memset(lanes_[i].places, 0, kPlaces);
      for (Stamp& stamp : lanes_[i].map) stamp = 0;
      for (Stamp& stamp : lanes_[i].pages) stamp = 0;
    }
  }

 private:
  static constexpr uint32_t kGathers = 2 * static_cast<uint32_t>(Pipe::V);  // the lane of the vector pipe's reads
  static constexpr uint32_t kRecent = 8;
  static constexpr uint32_t kPlaces = 64;
  static constexpr uint32_t kPageBytes = 1024;
  struct Recent {
    StridedRange rows;
    Stamp stamp;
  };
  struct Lane {
    uint32_t count;           // of recent
    uint32_t oldest;          // the range to replace first
    uint8_t places[kPlaces];  // by call: the range to check first
    Recent recent[kRecent];
    Stamp painted;                       // the newest stamp on the map
    Stamp pages[kUbBytes / kPageBytes];  // the newest stamp on each page of the map
    Stamp map[kUbBytes / kBlockBytes];
    uint32_t masks[kUbBytes / kBlockBytes];  // bytes touched, where the stamp has kPart
  };

  // Whether a later access covers the same bytes. A pipe that has seen the later access has also seen this one.
  static bool IsPast(const Lane& lane, const Recent& recent) {
    for (const Recent& other : lane.recent)
      if (other.stamp > recent.stamp && other.rows.Covers(recent.rows)) return true;
    return false;
  }

  // Returns the mask of the granule's bytes in the range.
  static uint32_t MaskOf(uint32_t granule, LocalRange range) {
    const uint32_t begin = granule * kBlockBytes;
    const uint32_t end = begin + kBlockBytes;
    return BytesOfBlock(range.begin > begin ? range.begin : begin, range.end < end ? range.end : end);
  }

  GNT_NOINLINE static void Paint(Lane& lane, Stamp stamp, const StridedRange& rows) {
    PaintPages(lane, stamp, rows.range);
    rows.ForEach([&](LocalRange row) { PaintRow(lane, stamp, row); });
  }
  // Paints one row on the map. Entries of a later window stay.
  GNT_NOINLINE static void PaintRow(Lane& lane, Stamp stamp, LocalRange range) {
    uint32_t first = range.begin / kBlockBytes;
    const uint32_t end = range.end / kBlockBytes;
    if (range.begin % kBlockBytes != 0 || end <= first) {
      PaintPart(lane, stamp, first, MaskOf(first, range));
      ++first;
    }
    if (range.end % kBlockBytes != 0 && end >= first) PaintPart(lane, stamp, end, MaskOf(end, range));
    for (uint32_t i = first; i < end; ++i) PaintWhole(lane, stamp, i);
  }
  static void PaintWhole(Lane& lane, Stamp stamp, uint32_t granule) {
    Stamp& old = lane.map[granule];
    old = old >> kWindowShift <= stamp >> kWindowShift ? stamp : old;
  }

  static void PaintPieces(Lane& lane, Stamp stamp, const GatherRanges& pieces) {
    const LocalRange range = pieces.range;
    Stamp others = 0;
    for (uint32_t i = range.begin / kBlockBytes; i * kBlockBytes < range.end; ++i) others |= lane.map[i] ^ stamp;
    if (others == 0) return;  // the whole range has this stamp already
    PaintPages(lane, stamp, range);
    const uint64_t piece = (uint64_t{1} << pieces.bytes) - 1;
    for (uint32_t i = 0; i < pieces.count; ++i) {
      const uint32_t at = range.begin + pieces.offsets[i];
      const uint32_t granule = at / kBlockBytes;
      const uint64_t mask = piece << at % kBlockBytes;
      if (mask >> kBlockBytes != 0) {
        PaintRow(lane, stamp, {at, at + pieces.bytes});
        continue;
      }
      PaintPart(lane, stamp, granule, static_cast<uint32_t>(mask));
    }
  }

  static void PaintPages(Lane& lane, Stamp stamp, LocalRange range) {
    if (lane.painted < stamp) lane.painted = stamp;
    for (uint32_t page = range.begin / kPageBytes; page * kPageBytes < range.end; ++page)
      if (lane.pages[page] < stamp) lane.pages[page] = stamp;
  }

  // Paints the bytes of a granule that are in `mask`.
  static void PaintPart(Lane& lane, Stamp stamp, uint32_t granule, uint32_t mask) {
    Stamp& old = lane.map[granule];
    if (old >> kWindowShift > stamp >> kWindowShift) return;
    if (old >> kWindowShift == stamp >> kWindowShift) {  // a pipe that has seen one access has seen both
      if ((old & kPart) == 0) return;
      mask |= lane.masks[granule];
    }
    lane.masks[granule] = mask;
    old = mask == ~uint32_t{0} ? stamp : stamp | kPart;
  }

  static Stamp OnMap(const Lane& lane, Stamp seen, LocalRange range, uint32_t& at) {
    Stamp newest = 0;
    for (uint32_t page = range.begin / kPageBytes; page * kPageBytes < range.end; ++page)
      newest = newest < lane.pages[page] ? lane.pages[page] : newest;
    if (newest <= seen) return 0;
    const uint32_t end = (range.end + kBlockBytes - 1) / kBlockBytes;
    newest = 0;
    for (uint32_t i = range.begin / kBlockBytes; i < end; ++i) newest = newest < lane.map[i] ? lane.map[i] : newest;
    return newest <= seen ? 0 : Confirm(lane, seen, range, at);
  }

  GNT_COLD static Stamp Confirm(const Lane& lane, Stamp seen, LocalRange range, uint32_t& at) {
    for (uint32_t i = range.begin / kBlockBytes; i * kBlockBytes < range.end; ++i) {
      if (lane.map[i] <= seen) continue;
      const uint32_t touched = (lane.map[i] & kPart) != 0 ? lane.masks[i] : ~uint32_t{0};
      const uint32_t both = touched & MaskOf(i, range);
      if (both == 0) continue;
      at = i * kBlockBytes + static_cast<uint32_t>(__builtin_ctz(both));
      return lane.map[i];
    }
    return 0;
  }

  LaneStamps last_;
  Lane* lanes_;
  Gathers gathers_;
};

}  // namespace gn_twin
