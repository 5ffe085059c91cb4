// What the gradient dy goes through before it reaches GroupNorm, in step 5: nothing, or the slope of an activation that the forward
// pass had as its epilogue (kernels/group_norm/group_norm_epilogue.h).
//
// A class that activates has, besides, Apply(to, dy, u, near, far, count): to = dy * f'(u) for `count` floats, with u = xhat * gamma + beta made
// again from what the forward pass saved. dy, u, near and far are overwritten; near begins in the bank group in which u does, far half of all
// groups, 256 bytes, behind, as dy does. Where dy is zero and u is finite, it must leave zero: such elements fill lines up to whole blocks.
#pragma once
#include "kernel_operator.h"

struct GroupNormBackwardIdentity {
  static constexpr bool kActivates = false;
};
