// As much of GoogleTest's interface as public test sources of host code use, so that these compile unchanged without it.
//
// Every check prints a line, "ok" or "FAILED" with its place: the caller counts them.
#pragma once
#include <cstdio>
#include <string>
#include <vector>

namespace testing {

class Test {
 public:
  virtual ~Test() = default;
  void Run() {
    SetUp();
    TestBody();
    TearDown();
  }

 protected:
  static void SetUpTestCase() {}
  static void TearDownTestCase() {}
  virtual void SetUp() {}
  virtual void TearDown() {}
  virtual void TestBody() = 0;
};

struct Registered {
  std::string name;
  Test* (*make)();
};
inline std::vector<Registered>& All() {
  static std::vector<Registered> all;
  return all;
}
inline bool Register(const char* name, Test* (*make)()) {
  All().push_back({name, make});
  return true;
}
inline const char*& Running() {
  static const char* name = "";
  return name;
}
inline bool Check(bool holds, const char* file, int line, const char* text) {
  std::printf("%s %s %s:%d %s\n", holds ? "ok" : "FAILED", Running(), file, line, text);
  return holds;
}

}  // namespace testing

#define TEST_F(FIXTURE, NAME)                                                    \
  class FIXTURE##_##NAME : public FIXTURE {                                      \
    void TestBody() override;                                                    \
                                                                                 \
   public:                                                                       \
    static testing::Test* Make() { return new FIXTURE##_##NAME; }                \
  };                                                                             \
  [[maybe_unused]] static const bool FIXTURE##_##NAME##_registered =             \
      testing::Register(#FIXTURE "." #NAME, &FIXTURE##_##NAME::Make);            \
  void FIXTURE##_##NAME::TestBody()
#define EXPECT_EQ(LEFT, RIGHT) testing::Check((LEFT) == (RIGHT), __FILE__, __LINE__, #LEFT " == " #RIGHT)
#define EXPECT_NE(LEFT, RIGHT) testing::Check((LEFT) != (RIGHT), __FILE__, __LINE__, #LEFT " != " #RIGHT)
#define EXPECT_TRUE(VALUE) testing::Check(bool(VALUE), __FILE__, __LINE__, #VALUE)
#define EXPECT_FALSE(VALUE) testing::Check(!bool(VALUE), __FILE__, __LINE__, "!" #VALUE)
#define ASSERT_EQ(LEFT, RIGHT) \
  if (!EXPECT_EQ(LEFT, RIGHT)) return
#define ASSERT_NE(LEFT, RIGHT) \
  if (!EXPECT_NE(LEFT, RIGHT)) return
#define ASSERT_TRUE(VALUE) \
  if (!EXPECT_TRUE(VALUE)) return
