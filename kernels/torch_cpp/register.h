// GN_REGISTER(Operator) makes an operator known to PyTorch, in every place that the library being compiled is for.
//
// Operator is a class with three static functions, each of which is given the library to write to: Define, the names and arguments;
// Differentiate, what stands under the key Autograd; Implement<Place>, the function for a place of places.h. gn_torch has all places but
// the NPU, whose library, gn_torch_npu, is compiled from the same files with GN_TORCH_NPU and adds to what the first one has defined.
#pragma once
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "dispatch.h"
#include "places.h"

#ifdef GN_TORCH_NPU
#define GN_REGISTER(Operator) \
  TORCH_LIBRARY_IMPL(gn_tutorial_cpp, PrivateUse1, m) { Operator::Implement<OnNpu>(m); }
#else
#define GN_REGISTER(Operator)                                                      \
  TORCH_LIBRARY_FRAGMENT(gn_tutorial_cpp, m) { Operator::Define(m); }              \
  TORCH_LIBRARY_IMPL(gn_tutorial_cpp, Autograd, m) { Operator::Differentiate(m); } \
  TORCH_LIBRARY_IMPL(gn_tutorial_cpp, Meta, m) { Operator::Implement<Meta>(m); }   \
  TORCH_LIBRARY_IMPL(gn_tutorial_cpp, CPU, m) { Operator::Implement<Cpu>(m); }
#endif
