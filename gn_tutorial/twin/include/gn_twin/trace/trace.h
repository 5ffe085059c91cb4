// The trace: an observer that records the events of each chosen block as slots (gn_twin/trace/slots.h). It also counts,
// over all blocks, the lines of global memory that were read, written or touched for the first time. If the memory for
// the trace is full, recording stops, and GntTrace::full says so.
#pragma once
#include <stdlib.h>

#include <new>

#include "gn_twin/core/core.h"
#include "gn_twin/events/footprint.h"
#include "gn_twin/trace/l2_lines.h"
#include "gn_twin/trace/slots.h"

namespace gn_twin {

// Assigns numbers to texts by their address, because names of operations, roles and files are literals of the library.
class TextTable {
 public:
  static constexpr uint16_t kMost = 1024;
  // Returns the number of a text and sets `fresh` if the text is new; 0 if the table is full.
  uint16_t NumberOf(const char* text, bool& fresh) {
    uint32_t at = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(text) >> 2) % kMost;
    for (uint32_t tried = 0; tried < kMost; ++tried, at = (at + 1) % kMost) {
      if (texts_[at] == text) return numbers_[at];
      if (texts_[at] != nullptr) continue;
      texts_[at] = text;
      fresh = true;
      return numbers_[at] = ++count_;
    }
    return 0;
  }

 private:
  const char* texts_[kMost] = {};
  uint16_t numbers_[kMost] = {};
  uint16_t count_ = 0;
};

class Trace final : public Observer {
 public:
  explicit Trace(GntJob& job) : out_(job.trace) {
    if (!Asked()) return;
    lines_ = new (std::nothrow) L2Lines(job);
    texts_ = new (std::nothrow) TextTable;
    blocks_ = static_cast<Block*>(calloc(job.blocks, sizeof(Block)));
    out_.used = out_.full = 0;
    if (!Ready()) {
      out_.full = 1;
      return;
    }
    for (uint32_t i = 0; i < out_.chosen_count; ++i) {
      if (out_.chosen[i] < job.blocks) blocks_[out_.chosen[i]].chosen = true;
    }
  }
  ~Trace() override {
    delete lines_;
    delete texts_;
    free(blocks_);
  }
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  bool Asked() const { return out_.slots != nullptr; }

  Kinds Wants() const override { return kAllKinds & ~KindsOf(Kind::Padding, Kind::Words); }
  void OnEvent(Core& core, const Event& event) override {
    if (!Ready()) return;
    WriteScalars(core.block);
    L2Lines::Touched touched[4];
    if (event.kind == Kind::Copy) TouchLines(core.block, event, touched);
    if (Chosen(core.block)) WriteEvent(core, event, touched);
  }

  void OnScalars(Core& core, const ScalarAccess* accesses, uint32_t count) override {
    if (!Ready()) return;
    for (uint32_t i = 0; i < count; ++i) {
      const ScalarAccess& access = accesses[i];
      Run& run = RunOf(core, access);
      const uint64_t at = static_cast<uint64_t>(access.at - run.low) + run.model_low;
      ++run.count;
      if (out_.watch_count != 0)
        Watch(core.block, static_cast<uint32_t>(&run - runs_), kScalars, at, access.at, access.bytes);
      if (at < run.begin) run.begin = at;
      if (at + access.bytes > run.end) run.end = at + access.bytes;
      if (at / kScalarLineBytes == run.line_at) continue;
      const bool other = at / L2Lines::kLineBytes != run.line_at * kScalarLineBytes / L2Lines::kLineBytes;
      run.line_at = at / kScalarLineBytes;
      ++run.changes;
      if (other && run.argument != kNoArgument) TouchScalar(core.block, access, run.argument);
    }
  }

  // No access is quiet, because the trace counts every access in a run.
  void Quiet(Core&, const ScalarAccess&, QuietBytes& quiet) override { quiet = {}; }

  void OnBlockEnd(Core& core) override {
    if (Ready()) WriteScalars(core.block);
  }

 private:
  static constexpr uint32_t kScalarLineBytes = 64;
  static constexpr uint32_t kScalars = ~0u;  // GntWatch::operand of a watch of scalar accesses
  static constexpr uint32_t kRuns = 64;
  struct Block {
    uint32_t moved;   // lines moved so far
    uint32_t events;  // events recorded so far
    bool chosen;
  };
  bool Ready() const { return lines_ != nullptr && texts_ != nullptr && blocks_ != nullptr; }

  // The accesses of one source line to one argument, or to the Unified Buffer, in the memory from `low` to `high`.
  struct Run {
    ScalarAccess like;
    const uint8_t* low = nullptr;
    const uint8_t* high = nullptr;
    uint64_t model_low = 0;  // the model's address of `low`
    uint16_t argument = kNoArgument;
    uint64_t count = 0;
    uint64_t begin = ~uint64_t{0};
    uint64_t end = 0;
    uint64_t changes = 0;
    uint64_t line_at = ~uint64_t{0};
  };

  bool Chosen(uint32_t block) const { return blocks_[block].chosen; }

  // Returns the run to which an access belongs, creating it if needed. In a loop the accesses repeat in the same order,
  // so the search starts after the last run found.
  Run& RunOf(Core& core, const ScalarAccess& access) {
    for (uint32_t tried = 0; tried < run_count_; ++tried) {
      last_run_ = last_run_ + 1 < run_count_ ? last_run_ + 1 : 0;
      const Run& run = runs_[last_run_];
      if (run.like.line == access.line && run.like.access == access.access && run.like.bytes == access.bytes &&
          run.like.file == access.file && access.at >= run.low && access.at < run.high)
        return runs_[last_run_];
    }
    if (run_count_ == kRuns) WriteScalars(core.block);
    last_run_ = run_count_++;
    Run& run = runs_[last_run_];
    run = Run{};
    run.like = access;
    run.low = core.ub;
    run.high = core.ub + kUbBytes;
    if (access.space == Space::UB) return run;
    run.argument = lines_->ArgumentOf(access.at);
    run.low = access.at;
    run.high = access.at + 1;
    if (run.argument != kNoArgument) lines_->Bounds(run.argument, run.low, run.high, run.model_low);
    return run;
  }

  void Count(uint32_t block, const L2Lines::Touched& touched, bool write, bool cached) {
    (write ? out_.lines_written : out_.lines_read) += touched.lines;
    if (!write) (cached ? out_.lines_cold : out_.lines_bypassed) += cached ? touched.cold : touched.lines;
    if (!write && !cached) out_.blocks_bypassed += touched.blocks;
    out_.lines_dirty += touched.fresh_dirty;
    out_.lines_held += touched.fresh_held;
    blocks_[block].moved += touched.lines;
  }
  void TouchScalar(uint32_t block, const ScalarAccess& access, uint16_t argument) {
    const bool write = access.access == Access::Write;
    L2Lines::Touched touched;
    lines_->Touch(argument, access.at, access.bytes, write, true, blocks_[block].moved, touched);
    Count(block, touched, write, true);
  }
  void TouchLines(uint32_t block, const Event& event, L2Lines::Touched* touched) {
    for (uint8_t i = 0; i < event.operands; ++i) {
      const Operand& operand = event.operand[i];
      if (operand.space != Space::GM) continue;
      const uint16_t argument = lines_->ArgumentOf(operand.at);
      if (argument == kNoArgument) continue;
      const bool write = operand.access != Access::Read;
      ForRuns(event, operand, [&](const uint8_t* at, uint64_t bytes) {
        lines_->Touch(argument, at, bytes, write, operand.cached, blocks_[block].moved, touched[i]);
      });
      Count(block, touched[i], write, operand.cached);
    }
  }

  void WriteScalars(uint32_t block) {
    const bool chosen = Chosen(block);
    for (uint32_t i = 0; chosen && i < run_count_; ++i) {
      const Run& run = runs_[i];
      const uint16_t file = NumberOf(run.like.file);
      auto* slot = static_cast<ScalarsSlot*>(Room(1));
      if (slot == nullptr) break;
      *slot = {};
      slot->slot = Slot::Scalars;
      slot->space = run.like.space;
      slot->access = run.like.access;
      slot->bytes = run.like.bytes;
      slot->file = file;
      slot->argument = run.argument;
      slot->line = run.like.line;
      slot->block = block;
      slot->count = run.count;
      slot->changes = run.changes;
      slot->floats = run.like.floats ? 1 : 0;
      slot->begin = run.begin;
      slot->end = run.end;
      ++blocks_[block].events;
    }
    run_count_ = last_run_ = 0;
  }

  void WriteEvent(Core& core, const Event& event, const L2Lines::Touched* touched) {
    // Writes the texts first, because they may take slots of their own.
    const uint16_t op = NumberOf(event.op);
    const uint16_t file = NumberOf(event.loc.file);
    uint16_t roles[4];
    uint16_t tensors[4];
    for (uint8_t i = 0; i < event.operands; ++i) {
      roles[i] = NumberOf(event.operand[i].role);
      tensors[i] = TensorOf(core, event.operand[i]);
    }
    auto* room = static_cast<uint8_t*>(Room(1 + event.operands));
    if (room == nullptr) return;
    auto* slot = reinterpret_cast<EventSlot*>(room);
    *slot = {};
    slot->slot = Slot::Event;
    slot->kind = event.kind;
    slot->pipe = event.pipe;
    slot->operands = event.operands;
    slot->element_bytes = event.element_bytes;
    slot->hard_event = event.hard_event;
    slot->event_id = event.event_id;
    slot->prefix = event.active.prefix ? 1 : 0;
    slot->per_repeat = event.active.per_repeat;
    slot->first = event.active.first;
    slot->last = event.active.last;
    slot->repeats = event.repeats;
    slot->op = op;
    slot->file = file;
    slot->line = event.loc.line;
    slot->block = core.block;
    slot->flow = event.flow;
    slot->atomic = event.pipe == Pipe::MTE3 && event.kind == Kind::Copy && core.atomic != 0 ? 1 : 0;
    slot->low = event.active.low;
    slot->high = event.active.high;
    slot->lanes = event.lanes;
    for (uint8_t i = 0; i < event.operands; ++i) {
      slot->tensor[i] = tensors[i];
      WriteOperand(core, event.operand[i], roles[i], touched[i],
                   reinterpret_cast<OperandSlot*>(room + kSlotBytes * (1 + i)));
      Watch(core.block, 0, i, 0, event.operand[i].at, event.operand[i].bytes);
    }
    for (uint8_t i = 0; i < event.operands && out_.with_origins != 0; ++i) WritePieces(event.operand[i]);
    ++blocks_[core.block].events;
  }
  void WriteOperand(const Core& core, const Operand& operand, uint16_t role, const L2Lines::Touched& touched,
                    OperandSlot* slot) {
    *slot = {};
    slot->slot = Slot::Operand;
    slot->space = operand.space;
    slot->access = operand.access;
    slot->element_bytes = operand.element_bytes;
    slot->strided = operand.strided ? 1 : 0;
    slot->cached = operand.cached ? 1 : 0;
    slot->role = role;
    slot->argument = operand.space == Space::GM ? lines_->ArgumentOf(operand.at) : kNoArgument;
    slot->blk_stride = operand.blk_stride;
    slot->rep_stride = operand.rep_stride;
    slot->floats = operand.floats ? 1 : 0;
    slot->in_pieces = operand.pieces != nullptr && out_.with_origins != 0 ? 1 : 0;
    slot->rows = operand.rows;
    slot->at = operand.space == Space::GM ? ModelAddress(operand.at, slot->argument) : core.UbOffset(operand.at);
    slot->bytes = operand.bytes;
    slot->row_bytes = operand.row_bytes;
    slot->row_pitch = static_cast<uint32_t>(operand.row_pitch);
    slot->lines = touched.lines;
    slot->cold = touched.cold;
    slot->reuse_lines = touched.reuse_lines;
    slot->cold_blocks = touched.cold_blocks;
  }

  void WritePieces(const Operand& operand) {
    if (operand.pieces == nullptr) return;
    for (uint32_t done = 0; done < operand.rows; done += PiecesSlot::kRoom) {
      auto* slot = static_cast<PiecesSlot*>(Room(1));
      if (slot == nullptr) return;
      *slot = {};
      slot->slot = Slot::Pieces;
      for (uint32_t i = 0; i < PiecesSlot::kRoom && done + i < operand.rows; ++i)
        slot->at[i] = operand.pieces[done + i];
    }
  }

  // Copies the values that watches request of an operand, whose `bytes` bytes begin at offset `first`. `behind`: how
  // many events of the block are still to be recorded before the operand's event.
  void Watch(uint32_t block, uint32_t behind, uint32_t operand, uint64_t first, const uint8_t* at, uint64_t bytes) {
    const uint32_t event = blocks_[block].events + behind;
    uint64_t low = 0, high = out_.watch_count;
    while (low < high) {  // the first watch of this event
      const uint64_t middle = (low + high) / 2;
      const GntWatch& one = out_.watches[middle];
      (one.block != block ? one.block < block : one.event < event) ? low = middle + 1 : high = middle;
    }
    for (uint64_t i = low; i < out_.watch_count; ++i) {
      GntWatch& watch = out_.watches[i];
      if (watch.block != block || watch.event != event) return;
      if (watch.operand != operand) continue;
      if (watch.offset < first || watch.offset >= first + bytes) continue;
      const uint64_t from = watch.offset - first;
      watch.seen = static_cast<uint32_t>(bytes - from < sizeof(watch.value) ? bytes - from : sizeof(watch.value));
      __builtin_memcpy(&watch.value, at + from, watch.seen);
    }
  }

  uint64_t ModelAddress(const uint8_t* at, uint16_t argument) const {
    return argument == kNoArgument ? 0 : lines_->AddressOf(argument, at);
  }

  // Returns the number of an operand's tensor, after a slot that says where it was made; 0 if that is unknown.
  uint16_t TensorOf(const Core& core, const Operand& operand) {
    uint64_t& told = told_[operand.tensor % kTold];
    const uint64_t key = uint64_t{core.block} << 16 | operand.tensor;
    if (out_.with_origins == 0) return 0;
    if (operand.tensor == 0 || told == key) return operand.tensor;
    const MadeTensor* const made = core.MadeOf(operand.tensor);
    if (made == nullptr) return 0;
    const uint16_t op = NumberOf(made->op);
    const uint16_t file = NumberOf(made->loc.file);
    auto* slot = static_cast<TensorSlot*>(Room(1));
    if (slot == nullptr) return 0;
    *slot = {};
    slot->slot = Slot::Tensor;
    slot->number = operand.tensor;
    slot->op = op;
    slot->file = file;
    slot->line = made->loc.line;
    slot->block = core.block;
    told = key;
    return operand.tensor;
  }

  uint16_t NumberOf(const char* text) {
    bool fresh = false;
    const uint16_t number = texts_->NumberOf(text, fresh);
    for (const char* at = text; fresh;) {
      auto* slot = static_cast<TextSlot*>(Room(1));
      if (slot == nullptr) break;
      *slot = {};
      slot->slot = Slot::Text;
      slot->number = number;
      uint32_t i = 0;
      while (i < TextSlot::kRoom && at[i] != '\0') {
        slot->text[i] = at[i];
        ++i;
      }
      at += i;
      slot->continues = *at != '\0' ? 1 : 0;
      fresh = *at != '\0';
    }
    return number;
  }

  void* Room(uint32_t slots) {
    if (out_.full != 0 || out_.bytes - out_.used < uint64_t{slots} * kSlotBytes) {
      out_.full = 1;
      return nullptr;
    }
    void* room = out_.slots + out_.used;
    out_.used += uint64_t{slots} * kSlotBytes;
    return room;
  }

  GntTrace& out_;
  L2Lines* lines_ = nullptr;
  TextTable* texts_ = nullptr;
  Block* blocks_ = nullptr;
  static constexpr uint32_t kTold = 256;
  uint64_t told_[kTold] = {};  // the tensors with a slot: block and number
  Run runs_[kRuns];
  uint32_t run_count_ = 0;
  uint32_t last_run_ = 0;
};

}  // namespace gn_twin
