// The two pipes that a flag connects, and the names of pipes and flags.
#pragma once
#include "gn_twin/events/event.h"

namespace gn_twin {

using AscendC::HardEvent;

struct PipePair {
  Pipe from;
  Pipe to;
};

inline constexpr PipePair PipesOf(HardEvent event) {
  switch (event) {
    case HardEvent::MTE2_V: return {Pipe::MTE2, Pipe::V};
    case HardEvent::V_MTE2: return {Pipe::V, Pipe::MTE2};
    case HardEvent::MTE3_V: return {Pipe::MTE3, Pipe::V};
    case HardEvent::V_MTE3: return {Pipe::V, Pipe::MTE3};
    case HardEvent::V_V: return {Pipe::V, Pipe::V};
    case HardEvent::MTE3_MTE2: return {Pipe::MTE3, Pipe::MTE2};
    case HardEvent::MTE2_MTE3: return {Pipe::MTE2, Pipe::MTE3};
    case HardEvent::S_V: return {Pipe::S, Pipe::V};
    case HardEvent::V_S: return {Pipe::V, Pipe::S};
    case HardEvent::S_MTE2: return {Pipe::S, Pipe::MTE2};
    case HardEvent::MTE2_S: return {Pipe::MTE2, Pipe::S};
    case HardEvent::S_MTE3: return {Pipe::S, Pipe::MTE3};
    case HardEvent::MTE3_S: return {Pipe::MTE3, Pipe::S};
    default: return {Pipe::All, Pipe::All};  // pipes of the matrix unit: nothing runs on them here
  }
}

inline const char* NameOf(HardEvent event) {
  switch (event) {
    case HardEvent::MTE2_V: return "MTE2_V";
    case HardEvent::V_MTE2: return "V_MTE2";
    case HardEvent::MTE3_V: return "MTE3_V";
    case HardEvent::V_MTE3: return "V_MTE3";
    case HardEvent::V_V: return "V_V";
    case HardEvent::MTE3_MTE2: return "MTE3_MTE2";
    case HardEvent::MTE2_MTE3: return "MTE2_MTE3";
    case HardEvent::S_V: return "S_V";
    case HardEvent::V_S: return "V_S";
    case HardEvent::S_MTE2: return "S_MTE2";
    case HardEvent::MTE2_S: return "MTE2_S";
    case HardEvent::S_MTE3: return "S_MTE3";
    case HardEvent::MTE3_S: return "MTE3_S";
    default: return "an event of the matrix unit";
  }
}

inline const char* NameOf(Pipe pipe) {
  constexpr const char* kNames[] = {"PIPE_S", "PIPE_V", "PIPE_MTE2", "PIPE_MTE3", "PIPE_ALL"};
  return kNames[static_cast<int>(pipe)];
}

// Returns the flag that makes `to` wait for `from`, for a finding that names the missing flag; MAX if there is none.
inline HardEvent EventBetween(Pipe from, Pipe to) {
  for (int i = 0; i < static_cast<int>(HardEvent::MAX); ++i) {
    const PipePair pair = PipesOf(static_cast<HardEvent>(i));
    if (pair.from == from && pair.to == to) return static_cast<HardEvent>(i);
  }
  return HardEvent::MAX;
}

}  // namespace gn_twin
