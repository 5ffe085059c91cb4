// Writes a JSON document from front to back into a string.
#pragma once
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <string>
#include <vector>

namespace gn_twin {

class JsonWriter {
 public:
  const std::string& Text() const { return text_; }

  // Open begins an object or a list, Close ends it. In an object, a key goes before each value.
  JsonWriter& Open(char bracket) {
    Separate();
    text_ += bracket;
    first_ = true;
    return *this;
  }
  JsonWriter& Close(char bracket) {
    text_ += bracket;
    first_ = false;
    return *this;
  }
  JsonWriter& Key(const char* name) {
    Value(std::string(name));
    text_ += ':';
    first_ = true;  // no comma before the member's value
    return *this;
  }

  JsonWriter& Value(const std::string& text) {
    Separate();
    text_ += '"';
    for (const char one : text) {
      if (one == '"' || one == '\\') {
        text_ += '\\';
        text_ += one;
      } else if (static_cast<unsigned char>(one) < 0x20) {
        char escaped[8];
        snprintf(escaped, sizeof(escaped), "\\u%04x", one);
        text_ += escaped;
      } else {
        text_ += one;
      }
    }
    text_ += '"';
    return *this;
  }
  JsonWriter& Value(const char* text) { return Value(std::string(text)); }
  JsonWriter& Value(bool value) { return Raw(value ? "true" : "false"); }
  JsonWriter& Value(int64_t value) { return Raw(std::to_string(value)); }
  JsonWriter& Value(uint64_t value) { return Raw(std::to_string(value)); }
  JsonWriter& Value(int32_t value) { return Raw(std::to_string(value)); }
  JsonWriter& Value(uint32_t value) { return Raw(std::to_string(value)); }
  // Writes the fewest significant digits, from 6 to 9, that read back as the same float, without zeros at the end.
  // Infinities and NaN are spelled as Python's json reads them.
  JsonWriter& Value(float value) {
    if (isnan(value)) return Raw("NaN");
    if (isinf(value)) return Raw(value > 0 ? "Infinity" : "-Infinity");
    char digits[32];
    for (int count = 6; count <= 9; ++count) {
      snprintf(digits, sizeof(digits), "%.*g", count, static_cast<double>(value));
      if (strtof(digits, nullptr) == value) break;
    }
    return Raw(digits);
  }
  JsonWriter& Null() { return Raw("null"); }
  template <class Item>
  JsonWriter& Value(const std::vector<Item>& items) {
    Open('[');
    for (const auto& item : items) Value(static_cast<const Item&>(item));
    return Close(']');
  }
  JsonWriter& Value(const std::vector<bool>& items) {
    Open('[');
    for (const bool item : items) Value(item);
    return Close(']');
  }
  template <class T>
  JsonWriter& Member(const char* name, const T& value) {
    return Key(name).Value(value);
  }

 private:
  void Separate() {
    if (!first_) text_ += ',';
    first_ = false;
  }
  JsonWriter& Raw(const std::string& text) {
    Separate();
    text_ += text;
    return *this;
  }

  std::string text_;
  bool first_ = true;
};

}  // namespace gn_twin
