// A launch as the stand-in compiler hands it to the stand-in runtime.
#pragma once
#include <cstdint>

struct StandInArg {
  StandInArg(void* address) : address(address) {}
  StandInArg(uint32_t number) : number(number), by_value(true) {}
  void* address = nullptr;
  uint32_t number = 0;
  bool by_value = false;
};

extern "C" void stand_in_launch(const char* entry, uint32_t count, uint32_t blocks, void* stream, const StandInArg* args);
