// The shared checks; checks.h says what each refuses.
#include "checks.h"

#include <cinttypes>

#include "overlap.h"

namespace gn_host {

Outcome NeedAll(const Arguments& arguments) {
  for (const Argument* argument : arguments) {
    if (argument->handle == nullptr)
      return Null(Text("%s is null", argument->name), "pass what GnCreateTensor returned");
  }
  return {};
}

Outcome LookUp(const Arguments& needed, const Arguments& all) {
  if (Outcome wrong = NeedAll(needed); wrong.Failed()) return wrong;
  for (Argument* argument : all) {
    if (argument->handle == nullptr) continue;
    argument->tensor = Tensors::Only().Find(argument->handle);
    if (argument->tensor == nullptr) {
      return Invalid(Text("%s was destroyed, or never made", argument->name),
                     "pass what GnCreateTensor returned, and destroy it after this call");
    }
  }
  for (const Argument* argument : all) {
    if (*argument && (*argument)->count > 0 && (*argument)->storage == nullptr) {
      return Null(Text("%s has elements, but its tensorData is null", argument->name),
                  "only a tensor without elements needs no memory");
    }
  }
  return {};
}

Outcome ReadMask(const uint8_t* mask, uint64_t size, const Arguments& gradients) {
  std::string names;
  for (const Argument* gradient : gradients) names += Text(names.empty() ? "%s" : ", %s", gradient->name);
  const std::string hint = Text("%zu bytes: %s", gradients.size(), names.c_str());
  if (mask == nullptr) return Null("outputMask is null", hint);
  if (size != gradients.size())
    return Invalid(Text("outputMaskSize is %" PRIu64 "; it must be %zu", size, gradients.size()), hint);
  for (size_t at = 0; at < gradients.size(); ++at) {
    if (mask[at] == 0) {
      gradients[at]->handle = nullptr;
    } else if (gradients[at]->handle == nullptr) {
      return Null(Text("%s is null, and outputMask[%zu] asks for it", gradients[at]->name, at),
                  "pass what GnCreateTensor returned, or do not ask for it");
    }
  }
  return {};
}

uint32_t WantedBits(const Arguments& gradients) {
  uint32_t bits = 0;
  for (size_t at = 0; at < gradients.size(); ++at) bits |= *gradients[at] ? 1u << at : 0u;
  return bits;
}

Outcome CheckSupported(const Argument& argument) {
  if (argument->ItemBytes() > 0) return {};
  return Invalid(Text("%s is %s", argument.name, TypeText(argument->dtype).c_str()),
                 "use float32, float16 or bfloat16");
}

Outcome CheckType(const Arguments& arguments, GnDataType wanted, const char* why) {
  for (const Argument* one : arguments) {
    if (!*one || (*one)->dtype == wanted) continue;
    return Invalid(
        Text("%s is %s; it must be %s, %s", one->name, TypeText((*one)->dtype).c_str(), TypeText(wanted).c_str(), why),
        Text("convert %s", one->name));
  }
  return {};
}

Outcome CheckStatistics(const Arguments& statistics, const Argument& data) {
  const Argument& first = *statistics.front();
  const GnDataType found = first->dtype;
  if (found != GN_FLOAT && found != data->dtype) {
    const std::string also =
        data->dtype == GN_FLOAT ? "" : Text(", or %s, the type of %s", TypeText(data->dtype).c_str(), data.name);
    return Invalid(Text("%s is %s; it must be float32%s", first.name, TypeText(found).c_str(), also.c_str()),
                   Text("convert %s", first.name));
  }
  return CheckType(statistics, found, Text("the type of %s", first.name).c_str());
}

Outcome CheckShape(const Arguments& arguments, const std::vector<int64_t>& wanted, const char* why) {
  for (const Argument* one : arguments) {
    if (!*one || (*one)->dims == wanted) continue;
    return Invalid(Text("%s has shape %s; it must be %s, %s", one->name, ShapeText((*one)->dims).c_str(),
                        ShapeText(wanted).c_str(), why),
                   Text("describe %s with that shape", one->name));
  }
  return {};
}

Outcome CheckCount(const Arguments& arguments, int64_t wanted, const char* why) {
  for (const Argument* one : arguments) {
    if (!*one || (*one)->count == wanted) continue;
    return Invalid(
        Text("%s has %" PRId64 " elements; it must have %" PRId64 ", %s", one->name, (*one)->count, wanted, why),
        Text("compare the shape of %s with N, C, HxW and group", one->name));
  }
  return {};
}

Outcome CheckGeluForm(int64_t approximate) {
  if (approximate == 0 || approximate == 1) return {};
  return Invalid(Text("approximate is %" PRId64 "; it must be 0 or 1", approximate),
                 "0 is GELU as it is defined, with erf; 1 its tanh form");
}

Outcome Product(const Argument& argument, size_t first, size_t last, int64_t* product) {
  const std::vector<int64_t>& dims = argument->dims;
  *product = 1;
  // An empty tensor's other axes may be as long as they like.
  for (size_t axis = first; axis < last; ++axis)
    if (dims[axis] == 0) *product = 0;
  for (size_t axis = first; axis < last && *product > 0; ++axis) {
    if (__builtin_mul_overflow(*product, dims[axis], product)) {
      return Invalid(Text("%s has shape %s: the product of its axes %zu to %zu does not fit in 64 bits", argument.name,
                          ShapeText(dims).c_str(), first, last - 1));
    }
  }
  return {};
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

Outcome CheckEps(const char* name, double eps, const char* hint) {
  // 1e-50 is positive, and 0 as a float.
  if (static_cast<float>(eps) > 0.0f && eps <= 3.0e38) return {};
  return Invalid(Text("%s is %g; it must be positive and finite as float32", name, eps), hint);
}

Outcome CheckOverlaps(const Arguments& inputs, const Arguments& outputs) {
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
