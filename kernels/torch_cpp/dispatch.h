// A registered operator by its name, to be called through the dispatcher.
#pragma once
#include <ATen/core/dispatch/Dispatcher.h>

namespace gn_torch {

// For a static of the caller: a look-up by name costs as much as the rest of a call. Throws if there is no such operator.
template <class Signature>
auto Operator(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

}  // namespace gn_torch
