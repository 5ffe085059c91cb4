// The checker of uninitialised global memory: outputs that the launch did not write, and outputs or workspace read before they are
// written.
//
// One bit per 32 bytes of every output and workspace, and one per byte of blocks written in part, over all blocks of the launch.
#pragma once
#include "gn_twin/core/core.h"
#include "gn_twin/shadow/byte_state.h"
#include "gn_twin/shadow/row_set.h"

namespace gn_twin {

class GlobalMemoryChecker final : public Observer {
 public:
  explicit GlobalMemoryChecker(const GntJob& job) {
    for (uint32_t i = 0; i < job.arg_count; ++i) {
      const GntArg& arg = job.args[i];
      if (arg.kind != GNT_TENSOR || arg.bytes == 0 || (arg.role != GNT_OUT && arg.role != GNT_WORKSPACE)) continue;
      if (count_ == kMost) return;
      Watched* watched = new (std::nothrow) Watched{&arg};
      if (watched == nullptr) return;
      if (!watched->bytes.Allocate(arg.bytes)) {
        delete watched;
        return;
      }
      all_[count_++] = watched;
    }
  }
  ~GlobalMemoryChecker() override {
    for (uint32_t i = 0; i < count_; ++i) delete all_[i];
  }
  GlobalMemoryChecker(const GlobalMemoryChecker&) = delete;
  GlobalMemoryChecker& operator=(const GlobalMemoryChecker&) = delete;

  Kinds Wants() const override { return KindsOf(Kind::Copy); }
  void OnEvent(Core& core, const Event& event) override {
    if (count_ == 0) return;
    for (uint8_t i = 0; i < event.operands; ++i) {
      const Operand& operand = event.operand[i];
      if (operand.space != Space::GM) continue;
      const Access atomic = core.atomic != 0 ? Access::ReadWrite : Access::Write;  // adds to what is there
      OnCopy(core, RowSet::Of(operand), operand.access == Access::Read ? Access::Read : atomic, event.loc, event.op,
             operand.element_bytes);
    }
  }
  // A copy from or to these rows of global memory.
  void OnCopy(Core& core, const RowSet& rows, Access access, Loc loc, const char* op, uint32_t element_bytes) {
    Watched* const watched = Find(reinterpret_cast<const uint8_t*>(rows.at));
    if (watched == nullptr) return;
    rows.ForEach([&](uintptr_t row, uint64_t bytes) {
      const uint8_t* const at = reinterpret_cast<const uint8_t*>(row);
      if (access != Access::Write) Read(core, *watched, at, bytes, loc, op, element_bytes);
      if (access != Access::Read) Write(*watched, at, bytes, loc, element_bytes);
    });
  }

  void OnScalars(Core& core, const ScalarAccess* accesses, uint32_t count) override {
    if (count_ == 0 || !core.scalars.in_gm) return;
    for (uint32_t i = 0; i < count; ++i) {
      const ScalarAccess& access = accesses[i];
      if (access.space != Space::GM) continue;
      Watched* watched = Find(access.at);
      if (watched == nullptr) continue;
      if (access.access == Access::Read) {
        Read(core, *watched, access.at, access.bytes, access.Place(), "GetValue", access.bytes);
      } else {
        Write(*watched, access.at, access.bytes, access.Place(), access.bytes);
      }
    }
  }

  void OnLaunchEnd(Core& core) override {
    for (uint32_t i = 0; i < count_; ++i) {
      const Watched& watched = *all_[i];
      if (watched.arg->role == GNT_OUT && !watched.bytes.HasAll(0, watched.arg->bytes)) Unwritten(core, watched);
    }
  }

 private:
  struct Watched {
    const GntArg* arg;
    ByteState bytes{};
    Loc last{};  // the last store
    uint32_t element_bytes = 1;
  };

  Watched* Find(const uint8_t* at) const {
    for (uint32_t i = 0; i < count_; ++i) {
      if (at >= all_[i]->arg->data && at < all_[i]->arg->data + all_[i]->arg->bytes) return all_[i];
    }
    return nullptr;
  }

  static void Write(Watched& watched, const uint8_t* at, uint64_t bytes, Loc loc, uint32_t element_bytes) {
    watched.bytes.Set(static_cast<uint64_t>(at - watched.arg->data), bytes);
    watched.last = loc;
    watched.element_bytes = element_bytes;
  }

  static void Read(Core& core, Watched& watched, const uint8_t* at, uint64_t bytes, Loc loc, const char* op,
                   uint32_t element_bytes) {
    const uint64_t offset = static_cast<uint64_t>(at - watched.arg->data);
    if (watched.bytes.HasAll(offset, bytes)) return;
    const uint64_t missing = watched.bytes.FirstMissing(offset, bytes);
    const bool untouched = Poisoned(watched.arg->data[missing]);
    watched.bytes.Set(offset, bytes);  // reported once
    if (!untouched) return;
    core.Fault("gm-read-before-write", loc, {},
               {{"op", op},
                {"argument", Name(watched)},
                {"index", missing / element_bytes},
                {"offset", missing},
                {"element_bytes", element_bytes}});
  }

  // A pointer in the kernel's hand writes unseen: a byte without the launcher's poison (gn_tutorial/runtime/launch_types.py) was written so.
  static bool Poisoned(uint8_t byte) {
    return byte == 0xa5 || byte == 0xe5 || byte == 0x7f || byte == 0x7e || byte == 0xfd;
  }

  GNT_COLD static void Unwritten(Core& core, const Watched& watched) {
    uint64_t missing = 0;
    uint64_t first = watched.arg->bytes;
    for (uint64_t at = 0; at < watched.arg->bytes; ++at) {
      at = watched.bytes.FirstMissing(at, watched.arg->bytes - at);
      if (at == watched.arg->bytes || !Poisoned(watched.arg->data[at])) continue;
      if (missing++ == 0) first = at;
    }
    if (missing == 0) return;
    core.Warn("gm-not-written", watched.last, {},
              {{"argument", Name(watched)},
               {"elements", (missing + watched.element_bytes - 1) / watched.element_bytes},
               {"of", watched.arg->bytes / watched.element_bytes},
               {"first", first / watched.element_bytes},
               {"bytes", missing},
               {"element_bytes", watched.element_bytes}});
  }
  static const char* Name(const Watched& watched) { return watched.arg->name != nullptr ? watched.arg->name : "?"; }

  static constexpr uint32_t kMost = 32;
  Watched* all_[kMost] = {};
  uint32_t count_ = 0;
};

}  // namespace gn_twin
