// The checker at the end of a block: it reports flags that nobody waited for, and tensors that nobody took out of their
// queue or freed. It also lets the core report the uses after FreeTensor that were noted.
//
// Source: docs/zh/api, 同步控制 (SetFlag and WaitFlag come in pairs) and 资源管理/TQue. A flag that stays raised is still set
// for the next kernel on the core.
#pragma once
#include "gn_twin/core/core.h"
#include "gn_twin/events/hard_event.h"

namespace gn_twin {

class QueueChecker final : public Observer {
 public:
  Kinds Wants() const override { return 0; }

  void OnBlockEnd(Core& core) override {
    core.TellFreedUses();
    for (uint16_t i = 0; i < core.buffer_count; ++i) Leftover(core, core.buffers[i]);
    for (int event = 0; event < Core::kEvents; ++event) {
      for (int id = 0; id < static_cast<int>(kEventIds); ++id) {
        if ((core.raised[event] >> id & 1) != 0 && !OfQueue(core, event, id))
          core.Fault("flag-never-awaited", core.raised_at[event][id], {},
                     {{"event", NameOf(static_cast<AscendC::HardEvent>(event))}, {"id", id}});
      }
    }
  }

 private:
  static void Leftover(Core& core, const Buffer& buffer) {
    const BufferState state = buffer.state == BufferState::Gone ? buffer.left : buffer.state;
    if (!buffer.of_queue || state == BufferState::Free) return;
    if (state == BufferState::EnQueued) {
      core.Fault("queue-never-dequeued", buffer.changed, buffer.made,
                 {{"buffer_file", buffer.made.file}, {"buffer_line", buffer.made.line}, {"buffer_nth", buffer.nth}});
    } else {
      core.Warn("queue-never-freed", buffer.changed, buffer.made,
                {{"op", state == BufferState::Occupied ? "AllocTensor" : "DeQue"},
                 {"buffer_file", buffer.made.file},
                 {"buffer_line", buffer.made.line},
                 {"buffer_nth", buffer.nth}});
    }
  }

  // Whether a flag belongs to a queue. A queue keeps the flags of freed buffers until the TPipe ends, and the TPipe
  // waits for them.
  static bool OfQueue(const Core& core, int event, int id) {
    for (uint16_t i = 0; i < core.buffer_count; ++i) {
      const Buffer& buffer = core.buffers[i];
      if (static_cast<int>(buffer.free_event) == event && buffer.free_id == id) return true;
      if (static_cast<int>(buffer.enque_event) == event && buffer.enque_id == id) return true;
    }
    return false;
  }
};

}  // namespace gn_twin
