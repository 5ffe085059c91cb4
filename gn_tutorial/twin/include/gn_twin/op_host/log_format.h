// Fills in printf formats according to the actual types of the arguments. Host files log a std::string as %s, or a
// 64-bit number as %d, or pass too few arguments. On a device's host this is undefined behaviour, which mostly goes
// unnoticed. Here the result is always a text.
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <string>
#include <type_traits>
#include <vector>

namespace gn_twin::op_host {

// One argument, as text for %s and as a number for the conversions of numbers.
struct LogArgument {
  enum class Kind { kSigned, kUnsigned, kFloat, kText, kPointer } kind = Kind::kText;
  int64_t number = 0;
  unsigned bits = 64;  // size of the number's type in bits, for negative numbers under %x, %X, %o and %u
  double real = 0;
  std::string text;
};

template <class T>
LogArgument ArgumentOf(const T& value) {
  using Kind = LogArgument::Kind;
  using Plain = std::decay_t<T>;
  LogArgument argument;
  if constexpr (std::is_enum_v<Plain>) {
    argument.kind = Kind::kSigned;
    argument.number = static_cast<int64_t>(value);
  } else if constexpr (std::is_integral_v<Plain>) {
    argument.kind = std::is_signed_v<Plain> ? Kind::kSigned : Kind::kUnsigned;
    argument.number = static_cast<int64_t>(value);
    argument.bits = 8 * sizeof(Plain);
  } else if constexpr (std::is_floating_point_v<Plain>) {
    argument.kind = Kind::kFloat;
    argument.real = static_cast<double>(value);
  } else if constexpr (std::is_convertible_v<const T&, const char*>) {
    const char* text = value;
    argument.text = text == nullptr ? "(null)" : text;
  } else if constexpr (std::is_convertible_v<const T&, std::string>) {
    argument.text = value;
  } else if constexpr (requires { value.GetString(); }) {
    argument.text = value.GetString();
  } else if constexpr (std::is_null_pointer_v<Plain>) {
    argument.text = "(null)";
  } else if constexpr (std::is_pointer_v<Plain>) {
    char text[32];
    snprintf(text, sizeof(text), "%p", (const void*)(value));
    argument.kind = Kind::kPointer;
    argument.text = text;
  } else {
    argument.text = "(an object)";
  }
  return argument;
}

// Returns the text of one argument for a conversion such as "%-8.3lf". If the conversion does not fit the argument,
// uses another one that does. `flags`: the characters between % and the conversion, without a length such as l or h.
inline std::string Converted(const std::string& flags, char conversion, const LogArgument& argument) {
  using Kind = LogArgument::Kind;
  const bool is_number = argument.kind == Kind::kSigned || argument.kind == Kind::kUnsigned;
  std::string format = "%" + flags;
  char text[512];
  if (is_number && strchr("diuxXoc", conversion) != nullptr) {
    format += conversion == 'c' ? std::string("c") : std::string("ll") + conversion;
    if (conversion == 'c') {
      snprintf(text, sizeof(text), format.c_str(), static_cast<int>(argument.number));
    } else {
      const bool whole = argument.bits == 64 || strchr("di", conversion) != nullptr;
      const long long number = whole ? argument.number : argument.number & ((1ll << argument.bits) - 1);
      snprintf(text, sizeof(text), format.c_str(), number);
    }
    return text;
  }
  if (is_number) {
    return argument.kind == Kind::kSigned ? std::to_string(argument.number)
                                          : std::to_string(static_cast<uint64_t>(argument.number));
  }
  if (argument.kind == Kind::kFloat) {
    format += strchr("eEfFgGaA", conversion) != nullptr ? conversion : 'g';
    snprintf(text, sizeof(text), format.c_str(), argument.real);
    return text;
  }
  if (conversion != 's' || flags.empty()) return argument.text;
  format += 's';
  std::string whole(static_cast<size_t>(snprintf(nullptr, 0, format.c_str(), argument.text.c_str())) + 1, '\0');
  snprintf(whole.data(), whole.size(), format.c_str(), argument.text.c_str());
  whole.pop_back();
  return whole;
}

inline std::string Formatted(const std::string& format, const std::vector<LogArgument>& arguments) {
  std::string text;
  size_t next = 0;
  for (size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%' || at + 1 == format.size()) {
      text += format[at];
      continue;
    }
    std::string flags;
    size_t end = at + 1;
    for (; end < format.size() && strchr("-+ #0123456789.*hlqjztL", format[end]) != nullptr; ++end) {
      if (format[end] == '*') {
        flags += std::to_string(next < arguments.size() ? static_cast<int>(arguments[next++].number) : 0);
      } else if (strchr("hlqjztL", format[end]) == nullptr) {
        flags += format[end];
      }
    }
    const char conversion = end < format.size() ? format[end] : '%';
    if (flags.size() > 20) flags.clear();  // too long to be a width that a person wrote
    if (conversion == '%') {
      text += '%';
    } else if (next < arguments.size()) {
      text += Converted(flags, conversion, arguments[next++]);
    } else {
      text += "(missing)";
    }
    at = end;
  }
  return text;
}

// Returns the name of a log line's source. The source is a name, or a context that has one. Without a name, returns "".
template <class Source>
std::string SourceName(const Source& source) {
  if constexpr (requires { source->GetNodeName(); }) {
    if (source == nullptr) return "";
    const char* name = source->GetNodeName();
    return name == nullptr ? "" : name;
  } else if constexpr (requires { source.GetNodeName(); }) {
    const char* name = source.GetNodeName();
    return name == nullptr ? "" : name;
  } else {
    const LogArgument argument = ArgumentOf(source);
    const bool named = argument.kind == LogArgument::Kind::kText && argument.text != "(null)";
    return named ? argument.text : "";
  }
}

}  // namespace gn_twin::op_host
