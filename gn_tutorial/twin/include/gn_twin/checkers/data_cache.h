// The checker of the scalar unit's data cache: each vector core has its own, and no hardware keeps it coherent
// with global memory.
//
// SetValue changes the core's cache; the line, 64 bytes, goes back to global memory later and as a whole. GetValue
// reads the cache if the line is there. The DMA pipes do not use the cache. So three things go wrong on the device
// although they look right in program order:
//   cache-line-shared   two cores (or a core's scalar unit and its DMA) write different bytes of one line: the
//                       line that goes back last overwrites the other bytes
//   cache-not-cleaned   bytes that are still in a core's cache are read through DMA, or by another core
//   cache-stale         a line is read again from the cache after global memory has changed
// Two cores that write the same bytes at the same time are a race: checkers/race.h.
// Source: docs/zh/api, 缓存控制/DataCacheCleanAndInvalid and 系统缓存概述; GlobalTensor/SetValue, GetValue.
#pragma once
#include <new>

#include "gn_twin/core/core.h"
#include "gn_twin/events/footprint.h"
#include "gn_twin/shadow/data_cache_lines.h"
#include "gn_twin/shadow/happens_before.h"

namespace gn_twin {

class DataCacheChecker final : public Observer {
 public:
  explicit DataCacheChecker(uint32_t blocks) : order_(blocks), blocks_(blocks), cores_(new CoreState[blocks]) {}
  ~DataCacheChecker() override {
    for (uint32_t i = 0; i < blocks_; ++i) delete cores_[i].cache;
    delete[] cores_;
  }
  DataCacheChecker(const DataCacheChecker&) = delete;
  DataCacheChecker& operator=(const DataCacheChecker&) = delete;

  void OnScalars(Core& core, const ScalarAccess* accesses, uint32_t count) override {
    if (!core.scalars.in_gm) return;
    for (uint32_t i = 0; i < count; ++i) {
      const ScalarAccess& access = accesses[i];
      if (access.space != Space::GM) continue;
      // A use of operator() counts as a read, because kernels nearly always only read the reference that it returns.
      access.access == Access::Write ? Write(core, access) : Read(core, access);
    }
  }

  void OnBlockEnd(Core& core) override {
    delete cores_[core.block].cache;
    cores_[core.block].cache = nullptr;
  }

  // Whether a copy needs no check, because no scalar unit has touched global memory yet.
  bool CanCopy() const { return lines_.Empty(); }

  Kinds Wants() const override {
    return KindsOf(Kind::Copy, Kind::SyncAll, Kind::CleanCache, Kind::Release, Kind::Acquire);
  }
  void OnEvent(Core& core, const Event& event) override {
    if (event.kind == Kind::SyncAll) ++cores_[core.block].epoch;
    if (event.kind == Kind::CleanCache) Clean(core, event);
    if (event.kind == Kind::Release) order_.Release(core.block, event.operand[0].at);
    if (event.kind == Kind::Acquire) order_.Acquire(core.block, event.operand[0].at);
    if (event.kind != Kind::Copy || CanCopy()) return;
    for (uint8_t i = 0; i < event.operands; ++i) {
      const Operand& operand = event.operand[i];
      if (operand.space == Space::GM) Transfer(core, event, operand);
    }
  }

 private:
  // The lines that a core's cache holds, each with its version in global memory when the core last accessed it. Public
  // documents do not say how many lines a cache has. A line that another one displaced here counts as gone, so every
  // report is true on a cache of this size or a larger one.
  struct Cache {
    static constexpr uint32_t kLines = 256;
    uint64_t line[kLines] = {};  // number of the line, plus 1
    uint32_t version[kLines] = {};

    bool Holds(uint64_t number) const { return line[number % kLines] == number + 1; }
    uint32_t Version(uint64_t number) const { return version[number % kLines]; }
    void Keep(uint64_t number, uint32_t now) {
      line[number % kLines] = number + 1;
      version[number % kLines] = now;
    }
    void Drop(uint64_t number) {
      if (Holds(number)) line[number % kLines] = 0;
    }
  };
  struct CoreState {
    uint32_t epoch = 0;      // how many SyncAll the block has reached
    uint32_t cleans = 0;     // how often it has cleaned its whole cache
    Cache* cache = nullptr;  // null while it holds no line; a scalar access of global memory makes it
  };

  // Returns the core's cache, or null if there is no memory; the checker then misses stale lines of that core.
  Cache* CacheOf(const Core& core) {
    Cache*& cache = cores_[core.block].cache;
    if (cache == nullptr) cache = new (std::nothrow) Cache;
    return cache;
  }

  bool Dirty(const DataCacheLine& line) const {
    return line.dirty != 0 && line.cleans == cores_[line.owner - 1].cleans;
  }
  // Whether another core wrote the line last, with code that may run at the same time as this core's.
  bool Beside(const DataCacheLine& line, const Core& core) const {
    return line.owner != core.block + 1 && line.epoch == cores_[core.block].epoch &&
           !order_.InOrder(line.interval, order_.Now(core.block));
  }
  // Whether another core may have written the same bytes at the same time. That is a race, which the race checker
  // reports.
  bool IsRace(const DataCacheLine& line, const Core& core, uint64_t bytes) const {
    return (line.written & bytes) != 0 && Beside(line, core);
  }

  void Read(Core& core, const ScalarAccess& access) {
    const GmPlace place = lines_.PlaceOf(core, access.at, access.bytes);
    if (place.line == nullptr) return;
    DataCacheLine& line = *place.line;
    if (line.owner != core.block + 1 && Dirty(line) && (line.dirty & place.bytes) != 0 &&
        !IsRace(line, core, place.bytes))
      return Report(core, "cache-not-cleaned", access.Op(), access.Place(), line, access.at);
    Cache* const cache = CacheOf(core);
    if (cache == nullptr) return;
    if (cache->Holds(place.number) && cache->Version(place.number) != line.version)
      return Report(core, "cache-stale", access.Op(), access.Place(), line, access.at);
    cache->Keep(place.number, line.version);
  }

  void Write(Core& core, const ScalarAccess& access) {
    const GmPlace place = lines_.PlaceOf(core, access.at, access.bytes);
    if (place.line == nullptr) return;
    DataCacheLine& line = *place.line;
    const CoreState& mine = cores_[core.block];
    const bool own = line.owner == core.block + 1;
    if (line.owner != 0 && !own && (Dirty(line) || (line.written != 0 && Beside(line, core))) &&
        !IsRace(line, core, place.bytes))
      Report(core, "cache-line-shared", access.Op(), access.Place(), line, access.at);
    if (!own || line.cleans != mine.cleans) line.dirty = 0;
    if (!own || line.epoch != mine.epoch) line.written = 0;
    line.owner = core.block + 1;
    line.epoch = mine.epoch;
    line.interval = order_.Now(core.block);
    line.cleans = mine.cleans;
    line.dirty |= place.bytes;
    line.written |= place.bytes;
    line.file = access.file;
    line.source_line = access.line;
    if (Cache* const cache = CacheOf(core); cache != nullptr) cache->Keep(place.number, line.version);
  }

  void Transfer(Core& core, const Event& event, const Operand& operand) {
    ForRuns(event, operand, [&](const uint8_t* at, uint64_t bytes) {
      lines_.ForKnown(core, at, bytes, [&](DataCacheLine& line, uint64_t touched) {
        if (operand.access == Access::Read) {
          if (Dirty(line) && (line.dirty & touched) != 0 && !IsRace(line, core, touched))
            Report(core, "cache-not-cleaned", event.op, event.loc, line, at);
          return;
        }
        if (Dirty(line) && !IsRace(line, core, touched))
          Report(core, "cache-line-shared", event.op, event.loc, line, at);
        ++line.version;
        line.file = event.loc.file;
        line.source_line = event.loc.line;
      });
    });
  }

  void Clean(Core& core, const Event& event) {
    CoreState& mine = cores_[core.block];
    if (event.operands == 0) {
      ++mine.cleans;
      delete mine.cache;
      mine.cache = nullptr;
      return;
    }
    const GmPlace place = lines_.PlaceOf(core, event.operand[0].at, DataCacheLines::kLineBytes);
    if (place.line == nullptr) return;
    if (place.line->owner == core.block + 1) {
      place.line->dirty &= ~place.bytes;
      ++place.line->version;
    }
    if (cores_[core.block].cache != nullptr) cores_[core.block].cache->Drop(place.number);
  }

  static void Report(Core& core, const char* id, const char* op, Loc loc, const DataCacheLine& line,
                     const uint8_t* at) {
    const GntArg* arg = ArgumentAt(core, at);
    core.Fault(id, loc, {line.file, line.source_line},
               {{"op", op},
                {"argument", NameOf(arg)},
                {"offset", at - arg->data},
                {"other_block", line.owner == 0 ? core.block : line.owner - 1},
                {"other_file", line.file},
                {"other_line", line.source_line}});
  }

  DataCacheLines lines_;
  HappensBefore order_;
  uint32_t blocks_;
  CoreState* cores_;
};

}  // namespace gn_twin
