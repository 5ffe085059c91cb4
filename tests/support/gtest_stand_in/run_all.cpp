// Runs every registered test of a public test source.
#include <memory>

#include "gtest/gtest.h"

int main() {
  for (const testing::Registered& one : testing::All()) {
    testing::Running() = one.name.c_str();
    std::unique_ptr<testing::Test>(one.make())->Run();
  }
  return 0;
}
