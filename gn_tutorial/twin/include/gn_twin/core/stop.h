// Ends a block early: by an exception, or, if the compiler has no exceptions, by asking the host to end the launch.
//
// The playground's compiler for WebAssembly has no exceptions (docs/playground.md). There the host drops the instance,
// and finds the report in the instance's memory. No destructor runs. A `throw` in a kernel's source does not compile
// there.
#pragma once
#include <new>

#if !defined(__cpp_exceptions)
extern "C" {
[[noreturn, clang::import_module("gnt"), clang::import_name("stop")]] void GnTwinHostStop();
[[noreturn, clang::import_module("gnt"), clang::import_name("no_memory")]] void GnTwinHostNoMemory();
}
#endif

namespace gn_twin {

// Thrown to end a launch after its diagnostic was written. A plain type: kernels are built without <stdexcept>.
struct Stopped {};

#if defined(__cpp_exceptions)
[[noreturn]] inline void StopBlock() { throw Stopped{}; }
[[noreturn]] inline void StopForMemory() { throw std::bad_alloc(); }
#else
[[noreturn]] inline void StopBlock() { GnTwinHostStop(); }
[[noreturn]] inline void StopForMemory() { GnTwinHostNoMemory(); }
#endif

}  // namespace gn_twin
