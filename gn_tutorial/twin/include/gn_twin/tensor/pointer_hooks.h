// What the compiler calls before each access of a kernel's own code to memory, in a kernel that uses plain pointers.
//
// They are the calls of -fsanitize=thread, whose own library is not linked. gn_tutorial/compiler/pointer_hooks.py removes
// them from code of the twin, and gives the others the names below and one more argument: the site, a file and a line.
// Accesses to the Unified Buffer and to arguments are logged like GetValue and SetValue. All other memory, such as the
// stack, is of no interest. The compiler assumes that these functions throw nothing, so a finding here does not end the
// launch at once.
#pragma once
#if defined(__ELF__)  // elsewhere no kernel is built with these calls
#include "gn_twin/base/far_addresses.h"
#include "gn_twin/tensor/tensor.h"

// The files of all sites, in the kernel's library. Weak, because libraries of other kernels have none.
extern "C" [[gnu::weak, gnu::visibility("hidden")]] const char* const gnt_pointer_files[];

namespace gn_twin {

class PointerHooks {
 public:
  static void Load(const void* at, uint64_t bytes, uint32_t site) { Note(at, bytes, Access::Read, site); }
  static void Store(const void* at, uint64_t bytes, uint32_t site) { Note(at, bytes, Access::Write, site); }

 private:
  static constexpr uint32_t kLineBits = 20, kLines = (1u << kLineBits) - 1;
  // Behind an argument lie up to 543 bytes of no argument, then a guard (gn_tutorial/runtime/job_file.py).
  static constexpr uint64_t kBehind = 512;
  static constexpr uint64_t kSmallBytes = uint64_t{64} << 20;  // _SMALL_BYTES of gn_tutorial/operators/source_build.py
  static constexpr uint64_t kFrames = 4096;
  static_assert(sizeof(Core) > kFrames);

  static Loc LocOf(uint32_t site) { return {gnt_pointer_files[site >> kLineBits], site & kLines}; }

  [[gnu::always_inline]] static void Note(const void* address, uint64_t bytes, Access access, uint32_t site) {
    const uint8_t* const at = static_cast<const uint8_t*>(address);
    // Most calls are for variables of the functions that run now. The Core lies in the same stack above them.
    if (static_cast<uint64_t>(at - static_cast<const uint8_t*>(__builtin_frame_address(0))) < kFrames) return;
    Core* const core = current_core;
    if (core == nullptr || bytes == 0 || Continues(*core, at, bytes, access, site)) return;
    if (core->pointers.seen == PlainPointers::Seen::Unknown) [[unlikely]]
      core->pointers.seen = IsSmall(*core->job) ? PlainPointers::Seen::Yes : PlainPointers::Seen::No;
    if (core->pointers.seen == PlainPointers::Seen::No) [[unlikely]]
      return;
    if (core->InUb(at)) return InBuffer(*core, at, bytes, access, site);
    if (const GntArg* const arg = Near(*core, at); arg != nullptr) InArgument(*core, *arg, at, bytes, access, site);
  }

  // Adds the access to one of the last logged ones if it goes on there, in the same line, as most accesses of a loop do;
  // returns whether it did. Observers expect each load, and each access to global memory, to lie in one block. An access
  // that was logged in between must not touch these bytes, because some checks need the order. A trace counts every
  // access, and after a poll every store to global memory is an event.
  [[gnu::always_inline]] static bool Continues(Core& core, const uint8_t* at, uint64_t bytes, Access access,
                                               uint32_t site) {
    constexpr uint32_t kLast = 4, kMostBytes = 255;
    ScalarAccess* one = core.scalars.next;
    for (uint32_t i = 0; i < kLast && one != core.scalars.all; ++i) {
      --one;
      if (one->at + one->bytes == at && one->line == (site & kLines) &&
          one->file == gnt_pointer_files[site >> kLineBits] && one->access == access) {
        if (core.cached == nullptr || one->bytes + bytes > kMostBytes) return false;
        if (one->space == Space::GM || access == Access::Read) {
          const uint64_t in_block = reinterpret_cast<uintptr_t>(at) % kBlockBytes;
          if (in_block == 0 || in_block + bytes > kBlockBytes) return false;
        }
        if (one->space == Space::GM && (core.scheduler->AnyPoll() || !IsIn(core.pointers.argument, at, bytes)))
          return false;
        one->bytes = static_cast<uint8_t>(one->bytes + bytes);
        return true;
      }
      if (one->at < at + bytes && at < one->at + one->bytes) return false;
    }
    return false;
  }
  // Whether the accesses of a launch are logged. Those of a large one would take too long, unless it asks for all checks.
  GNT_COLD static bool IsSmall(const GntJob& job) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < job.arg_count; ++i) bytes += job.args[i].kind == GNT_TENSOR ? job.args[i].bytes : 0;
    return bytes <= kSmallBytes || job.options.auto_sync != 0;
  }
  static bool IsIn(const GntArg* argument, const uint8_t* at, uint64_t bytes) {
    return argument != nullptr && at >= argument->data && at + bytes <= argument->data + argument->bytes;
  }

  // Returns the argument to which an address belongs, or null: one of far addresses belongs to their array, any other to
  // the array that contains it or ends shortly before it.
  static const GntArg* Near(Core& core, const uint8_t* at) {
    const GntArg* const last = core.pointers.argument;
    if (last != nullptr && static_cast<uint64_t>(at - last->data) < last->bytes) [[likely]]
      return last;
    const GntArg* const arg = ArgumentOf(core, at);
    if (arg == nullptr) return nullptr;
    if (!FarAddresses::Has(at) && static_cast<uint64_t>(at - arg->data) >= arg->bytes + kBehind) return nullptr;
    if (at < arg->data + arg->bytes) core.pointers.argument = arg;
    return arg;
  }

  GNT_NOINLINE static void InBuffer(Core& core, const uint8_t* at, uint64_t bytes, Access access, uint32_t site) {
    PlainPointers& pointers = core.pointers;
    if (pointers.IsReference(at)) return;
    const bool known = pointers.anywhere || static_cast<uint64_t>(at - pointers.begin) < pointers.bytes;
    if (!known && !Reaches(core, at, access, LocOf(site))) [[unlikely]]
      return;
    Log(core, Space::UB, at, bytes, access, LocOf(site));
  }

  GNT_NOINLINE static void InArgument(Core& core, const GntArg& arg, const uint8_t* at, uint64_t bytes, Access access,
                                      uint32_t site) {
    if (core.pointers.IsReference(at)) return;
    const Loc loc = LocOf(site);
    const uint64_t offset = static_cast<uint64_t>(at - arg.data);
    if (offset > arg.bytes || bytes > arg.bytes - offset) [[unlikely]]
      return Behind(core, arg, offset, bytes, loc);
    Log(core, Space::GM, at, bytes, access, loc);
    access == Access::Write ? NoteGlobalStore(core, "*pointer", at, bytes, loc)
                            : NoteGlobalRead(core, "*pointer", at, loc);
  }

  // Logs an access, in pieces that lie in one block each, because observers expect single elements.
  static void Log(Core& core, Space space, const uint8_t* at, uint64_t bytes, Access access, Loc loc) {
    while (bytes != 0) {
      const uint64_t room = kBlockBytes - reinterpret_cast<uintptr_t>(at) % kBlockBytes;
      const uint64_t piece = bytes < room ? bytes : room;
      core.scalars.in_gm |= space == Space::GM;
      core.scalars.stored |= space == Space::UB && access == Access::Write;
      LogScalar(core, {at, loc.file, loc.line, static_cast<uint8_t>(piece), space, access, false, true});
      at += piece;
      bytes -= piece;
    }
  }

  // Whether the kernel has a pointer into the buffer of this byte. Reports the access if it has none. Memory of no
  // buffer is of no interest here, because its values are checked.
  GNT_COLD static bool Reaches(Core& core, const uint8_t* at, Access access, Loc loc) {
    const uint64_t byte = core.UbOffset(at);
    const Buffer* hit = nullptr;
    for (uint16_t i = core.buffer_count; i-- > 0 && hit == nullptr;) {
      const Buffer& one = core.buffers[i];
      if (byte >= one.offset && byte < uint64_t{one.offset} + one.bytes) hit = &one;
    }
    if (hit == nullptr || core.pointers.count == 0) return true;
    // The nearest pointer into a buffer before the byte; if there is none, the kernel's first.
    const PlainPointers::Into* nearest = &core.pointers.into[0];
    for (uint32_t i = 0; i < core.pointers.count; ++i) {
      const Buffer& one = core.buffers[core.pointers.into[i].buffer];
      if (one.offset < hit->offset + hit->bytes && hit->offset < one.offset + one.bytes) {
        core.pointers.begin = core.ub + hit->offset;
        core.pointers.bytes = hit->bytes;
        return true;
      }
      const uint32_t best = core.buffers[nearest->buffer].offset;
      if (one.offset < byte && (best > byte || one.offset > best)) nearest = &core.pointers.into[i];
    }
    core.Fault("ub-pointer-outside", loc, nearest->loc,
               {{"does", access == Access::Write ? "writes" : "reads"},
                {"byte", byte - hit->offset},
                {"own_bytes", core.buffers[nearest->buffer].bytes},
                {"pointer_file", nearest->loc.file},
                {"pointer_line", nearest->loc.line},
                {"buffer_file", hit->made.file},
                {"buffer_line", hit->made.line},
                {"buffer_nth", hit->nth}});
    return false;
  }

  GNT_COLD static void Behind(Core& core, const GntArg& arg, uint64_t offset, uint64_t bytes, Loc loc) {
    core.Fault("gm-out-of-bounds", loc, {},
               {{"op", "*pointer"},
                {"role", "the pointer"},
                {"argument", NameOf(&arg)},
                {"argument_bytes", arg.bytes},
                {"offset", offset},
                {"bytes", bytes},
                {"element_bytes", bytes}});
  }
};

}  // namespace gn_twin

// What the calls become: an access of some bytes, and the functions of memory. memmove is called as gnt_pointer_copy, too.
#define GNT_HOOK extern "C" [[gnu::visibility("hidden"), gnu::used]] inline
GNT_HOOK void gnt_pointer_load(const void* at, uint64_t bytes, uint32_t site) {
  gn_twin::PointerHooks::Load(at, bytes, site);
}
GNT_HOOK void gnt_pointer_store(const void* at, uint64_t bytes, uint32_t site) {
  gn_twin::PointerHooks::Store(at, bytes, site);
}
GNT_HOOK void* gnt_pointer_copy(void* to, const void* from, uint64_t bytes, uint32_t site) {
  gn_twin::PointerHooks::Load(from, bytes, site);
  gn_twin::PointerHooks::Store(to, bytes, site);
  return __builtin_memmove(to, from, bytes);
}
GNT_HOOK void* gnt_pointer_fill(void* to, int value, uint64_t bytes, uint32_t site) {
  gn_twin::PointerHooks::Store(to, bytes, site);
  return __builtin_memset(to, value, bytes);
}
// g++ calls functions for all atomic operations, also for those of the twin.
#define GNT_ATOMIC_FETCH(BITS, T, OP)                                                  \
  GNT_HOOK T __tsan_atomic##BITS##_fetch_##OP(volatile void* at, T value, int) {       \
    return __atomic_fetch_##OP(static_cast<volatile T*>(at), value, __ATOMIC_SEQ_CST); \
  }
#define GNT_ATOMICS(BITS, T)                                                                                     \
  GNT_HOOK T __tsan_atomic##BITS##_load(const volatile void* at, int) {                                          \
    return __atomic_load_n(static_cast<const volatile T*>(at), __ATOMIC_SEQ_CST);                                \
  }                                                                                                              \
  GNT_HOOK void __tsan_atomic##BITS##_store(volatile void* at, T value, int) {                                   \
    __atomic_store_n(static_cast<volatile T*>(at), value, __ATOMIC_SEQ_CST);                                     \
  }                                                                                                              \
  GNT_HOOK T __tsan_atomic##BITS##_exchange(volatile void* at, T value, int) {                                   \
    return __atomic_exchange_n(static_cast<volatile T*>(at), value, __ATOMIC_SEQ_CST);                           \
  }                                                                                                              \
  GNT_HOOK bool __tsan_atomic##BITS##_compare_exchange_strong(volatile void* at, void* was, T value, int, int) { \
    return __atomic_compare_exchange_n(static_cast<volatile T*>(at), static_cast<T*>(was), value, false,         \
                                       __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                                      \
  }                                                                                                              \
  GNT_HOOK bool __tsan_atomic##BITS##_compare_exchange_weak(volatile void* at, void* was, T value, int, int) {   \
    return __tsan_atomic##BITS##_compare_exchange_strong(at, was, value, 0, 0);                                  \
  }                                                                                                              \
  GNT_ATOMIC_FETCH(BITS, T, add)                                                                                 \
  GNT_ATOMIC_FETCH(BITS, T, sub)                                                                                 \
  GNT_ATOMIC_FETCH(BITS, T, and)                                                                                 \
  GNT_ATOMIC_FETCH(BITS, T, or)                                                                                  \
  GNT_ATOMIC_FETCH(BITS, T, xor)                                                                                 \
  GNT_ATOMIC_FETCH(BITS, T, nand)
GNT_ATOMICS(8, uint8_t)
GNT_ATOMICS(16, uint16_t)
GNT_ATOMICS(32, uint32_t)
GNT_ATOMICS(64, uint64_t)
#undef GNT_ATOMICS
#undef GNT_ATOMIC_FETCH
GNT_HOOK void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
GNT_HOOK void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
#undef GNT_HOOK
#endif
