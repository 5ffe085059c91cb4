// Runs the work of a block and notes how it ended: normally, stopped, or by an exception, which devices do not have.
#pragma once
#include <stdint.h>

#include <exception>

#include "gn_twin/core/stop.h"

namespace gn_twin {

// How the work of one block ended. `good`: normally. `thrown`: the id of the diagnostic for an exception; null if the
// work threw no exception, or threw Stopped. `what`: the text of the exception.
struct Ending {
  bool good = true;
  const char* thrown = nullptr;
  char what[256] = "";

  GNT_COLD void Threw(const char* id, const char* text) {
    good = false;
    thrown = id;
    uint32_t i = 0;
    for (; text[i] != '\0' && i + 1 < sizeof(what); ++i) what[i] = text[i];
    what[i] = '\0';
  }
};

template <class Work>
GNT_COLD void RunToItsEnd(Ending& ending, Work work) {
#if defined(__cpp_exceptions)
  try {
    work();
  } catch (const Stopped&) {
    ending.good = false;
  } catch (const std::bad_alloc&) {
    ending.Threw("kernel-no-memory", "std::bad_alloc");
  } catch (const std::exception& error) {
    ending.Threw("kernel-exception", error.what());
  } catch (...) {
    ending.Threw("kernel-exception", "an object that is no std::exception");
  }
#else
  static_cast<void>(ending);
  work();
#endif
}

}  // namespace gn_twin
