// What the gradient dy goes through before it reaches GroupNorm, in step 5: nothing, or the slope of an activation that the forward
// pass had as its epilogue (kernels/group_norm/group_norm_epilogue.h).
//
// A class that activates has, besides, Apply(dy, u, scratch, count): dy = dy * f'(u) for `count` floats, with u = xhat * gamma + beta made
// again from what the forward pass saved. u is overwritten, and so are the 2 * count floats of scratch. Where dy is zero and u is finite, it
// must leave zero: such elements fill lines up to whole blocks.
#pragma once

struct GroupNormBackwardIdentity {
  static constexpr bool kActivates = false;
};
