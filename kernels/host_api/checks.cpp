// The shared checks; checks.h says what each refuses.
#include "checks.h"

#include <cinttypes>

#include "overlap.h"

namespace gn_host {

Outcome NeedAll(std::initializer_list<const Argument*> arguments) {
  for (const Argument* argument : arguments) {
    if (argument->handle == nullptr)
      return Null(Text("%s is null", argument->name), "pass what GnCreateTensor returned");
  }
  return {};
}

Outcome LookUp(std::initializer_list<Argument*> arguments) {
  for (Argument* argument : arguments) {
    if (argument->handle == nullptr) continue;
    argument->tensor = Tensors::Only().Find(argument->handle);
    if (argument->tensor == nullptr) {
      return Invalid(Text("%s was destroyed, or never made", argument->name),
                     "pass what GnCreateTensor returned, and destroy it after this call");
    }
  }
  return {};
}

Outcome NeedData(std::initializer_list<const Argument*> arguments) {
  for (const Argument* argument : arguments) {
    if (*argument && (*argument)->count > 0 && (*argument)->storage == nullptr) {
      return Null(Text("%s has elements, but its tensorData is null", argument->name),
                  "only a tensor without elements needs no memory");
    }
  }
  return {};
}

Outcome CheckSupported(const Argument& argument) {
  if (argument->ItemBytes() > 0) return {};
  return Invalid(Text("%s is %s", argument.name, TypeText(argument->dtype).c_str()),
                 "use float32, float16 or bfloat16");
}

Outcome CheckType(const Argument& argument, GnDataType wanted, const char* why) {
  if (!argument || argument->dtype == wanted) return {};
  return Invalid(Text("%s is %s; it must be %s, %s", argument.name, TypeText(argument->dtype).c_str(),
                      TypeText(wanted).c_str(), why),
                 Text("convert %s", argument.name));
}

Outcome CheckShape(const Argument& argument, const std::vector<int64_t>& wanted, const char* why) {
  if (!argument || argument->dims == wanted) return {};
  return Invalid(Text("%s has shape %s; it must be %s, %s", argument.name, ShapeText(argument->dims).c_str(),
                      ShapeText(wanted).c_str(), why),
                 Text("describe %s with that shape", argument.name));
}

Outcome CheckCount(const Argument& argument, int64_t wanted, const char* why) {
  if (!argument || argument->count == wanted) return {};
  return Invalid(
      Text("%s has %" PRId64 " elements; it must have %" PRId64 ", %s", argument.name, argument->count, wanted, why),
      Text("compare the shape of %s with N, C, HxW and group", argument.name));
}

Outcome CheckSizes(Sizes* sizes) {
  const std::pair<const char*, int64_t> given[] = {{"N", sizes->n}, {"C", sizes->c}, {"HxW", sizes->hxw}};
  for (const auto& [name, value] : given)
    if (value < 0) return Invalid(Text("%s is %" PRId64 "; it must not be negative", name, value));
  if (sizes->groups <= 0)
    return Invalid(Text("group is %" PRId64 "; it must be positive", sizes->groups), "choose a divisor of C");
  if (sizes->c == 0) return Invalid("C is 0; a group needs channels");
  if (sizes->hxw == 0 && sizes->n > 0)
    return Invalid("HxW is 0 and N is not: a group without elements has no mean", "only an empty batch is allowed");
  if (sizes->c % sizes->groups != 0) {
    return Invalid(Text("C is %" PRId64 ", which group = %" PRId64 " does not divide", sizes->c, sizes->groups),
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
      return Invalid(Text("two elements of %s share memory", out->name),
                     "an output needs a place for each element: no stride of 0");
    }
    for (const Argument* other : outputs) {
      if (other == out) break;
      if (*other && Overlap(*out->tensor, *other->tensor))
        return Invalid(Text("%s and %s share memory", other->name, out->name), "give each output its own");
    }
    for (const Argument* in : inputs) {
      if (*in && Overlap(*out->tensor, *in->tensor)) {
        return Invalid(Text("%s shares memory with %s", out->name, in->name),
                       "this operator does not work in place: give the output memory of its own");
      }
    }
  }
  return {};
}

}  // namespace gn_host
