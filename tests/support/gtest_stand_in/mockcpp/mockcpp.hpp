// Public test sources end with a call that verifies their mocks; those that are compiled here have none.
#pragma once

struct GlobalMockObject {
  static void verify() {}
};
