// The shared checks; checks.h says what each refuses.
#include "checks.h"

#include "overlap.h"

namespace gn_host {
namespace {

std::string Of(const char* name, int64_t value) { return std::string(name) + " is " + std::to_string(value); }

}  // namespace

std::string NumberText(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", number);
  return text;
}

Outcome NeedAll(std::initializer_list<const Argument*> arguments) {
  for (const Argument* argument : arguments) {
    if (argument->handle == nullptr)
      return Null(std::string(argument->name) + " is null", "pass what GnCreateTensor returned");
  }
  return {};
}

Outcome LookUp(std::initializer_list<Argument*> arguments) {
  for (Argument* argument : arguments) {
    if (argument->handle == nullptr) continue;
    argument->tensor = Tensors::Only().Find(argument->handle);
    if (argument->tensor == nullptr) {
      return Invalid(std::string(argument->name) + " was destroyed, or never made",
                     "pass what GnCreateTensor returned, and destroy it after this call");
    }
  }
  return {};
}

Outcome NeedData(std::initializer_list<const Argument*> arguments) {
  for (const Argument* argument : arguments) {
    if (*argument && (*argument)->count > 0 && (*argument)->storage == nullptr) {
      return Null(std::string(argument->name) + " has elements, but its tensorData is null",
                  "only a tensor without elements needs no memory");
    }
  }
  return {};
}

Outcome CheckSupported(const Argument& argument) {
  if (argument->ItemBytes() > 0) return {};
  return Invalid(std::string(argument.name) + " is " + TypeText(argument->dtype), "use float32, float16 or bfloat16");
}

Outcome CheckType(const Argument& argument, GnDataType wanted, const char* why) {
  if (!argument || argument->dtype == wanted) return {};
  return Invalid(std::string(argument.name) + " is " + TypeText(argument->dtype) + "; it must be " + TypeText(wanted) +
                     ", " + why,
                 std::string("convert ") + argument.name);
}

Outcome CheckShape(const Argument& argument, const std::vector<int64_t>& wanted, const char* why) {
  if (!argument || argument->dims == wanted) return {};
  return Invalid(std::string(argument.name) + " has shape " + ShapeText(argument->dims) + "; it must be " +
                     ShapeText(wanted) + ", " + why,
                 std::string("describe ") + argument.name + " with that shape");
}

Outcome CheckCount(const Argument& argument, int64_t wanted, const char* why) {
  if (!argument || argument->count == wanted) return {};
  return Invalid(std::string(argument.name) + " has " + std::to_string(argument->count) + " elements; it must have " +
                     std::to_string(wanted) + ", " + why,
                 std::string("compare the shape of ") + argument.name + " with N, C, HxW and group");
}

Outcome CheckSizes(Sizes* sizes) {
  const std::pair<const char*, int64_t> given[] = {{"N", sizes->n}, {"C", sizes->c}, {"HxW", sizes->hxw}};
  for (const auto& [name, value] : given)
    if (value < 0) return Invalid(Of(name, value) + "; it must not be negative");
  if (sizes->groups <= 0) return Invalid(Of("group", sizes->groups) + "; it must be positive", "a divisor of C");
  if (sizes->c == 0) return Invalid("C is 0; a group needs channels");
  if (sizes->hxw == 0 && sizes->n > 0)
    return Invalid("HxW is 0 and N is not: a group without elements has no mean", "only an empty batch is allowed");
  if (sizes->c % sizes->groups != 0) {
    return Invalid("C is " + std::to_string(sizes->c) + ", which group = " + std::to_string(sizes->groups) +
                       " does not divide",
                   "choose a divisor of C");
  }
  int64_t elements = 0;
  if (__builtin_mul_overflow(sizes->c, sizes->hxw, &elements) ||
      __builtin_mul_overflow(elements, sizes->n, &sizes->elements) ||
      __builtin_mul_overflow(sizes->n, sizes->groups, &sizes->statistics))
    return Invalid("N * C * HxW or N * group does not fit in 64 bits");
  return {};
}

Outcome CheckOverlaps(std::initializer_list<const Argument*> inputs, std::initializer_list<const Argument*> outputs) {
  for (const Argument* out : outputs) {
    if (!*out) continue;
    if (OverlapsItself(*out->tensor)) {
      return Invalid(std::string("two elements of ") + out->name + " share memory",
                     "an output needs a place for each element: no stride of 0");
    }
    for (const Argument* other : outputs) {
      if (other == out) break;
      if (*other && Overlap(*out->tensor, *other->tensor))
        return Invalid(std::string(other->name) + " and " + out->name + " share memory", "give each output its own");
    }
    for (const Argument* in : inputs) {
      if (*in && Overlap(*out->tensor, *in->tensor)) {
        return Invalid(std::string(out->name) + " shares memory with " + in->name,
                       "this operator does not work in place: give the output memory of its own");
      }
    }
  }
  return {};
}

}  // namespace gn_host
