#include "elements.h"

#include "common_elements_tiling.h"

namespace gn_host {
namespace {

// The first of the refusals that fits, but for the number of elements.
Outcome CheckOperands(std::vector<Operand>* operands, size_t inputs) {
  Arguments all;
  for (Operand& one : *operands) all.push_back(&one.argument);
  const Argument& first = *all.front();
  const std::string type = Text("the type of %s", first.name), shape = Text("the shape of %s", first.name);
  Outcome wrong = LookUp(all, all);
  if (!wrong.Failed()) wrong = CheckSupported(first);
  if (!wrong.Failed()) wrong = CheckType(all, first->dtype, type.c_str());
  if (!wrong.Failed()) wrong = CheckShape(all, first->dims, shape.c_str());
  if (!wrong.Failed()) wrong = CheckOverlaps({all.begin(), all.begin() + inputs}, {all.begin() + inputs, all.end()});
  return wrong;
}

}  // namespace

Outcome PlanElements(const char* kernel, std::vector<Operand> operands, const std::vector<ElementsNumber>& numbers,
                     Executor* plan, size_t outputs) {
  const size_t inputs = operands.size() - outputs;
  if (Outcome wrong = CheckOperands(&operands, inputs); wrong.Failed()) return wrong;
  const Tensor& out = *operands[inputs].argument.tensor;
  uint32_t blocks = 0;
  const char* const refused =
      MakeElementsBlocks(out.count, out.ItemBytes(), static_cast<int32_t>(VectorCores()), &blocks);
  if (refused != nullptr) return Invalid(refused, "divide the work into several calls");
  if (blocks == 0) return {};
  const std::vector<size_t> axes = out.AxesInMemory();
  PlannedLaunch launch{kernel, blocks, {}};
  for (size_t i = 0; i < operands.size(); ++i) {
    const Tensor tensor = operands[i].argument->Permuted(axes);
    launch.args.push_back(i < inputs ? plan->Input(operands[i].parameter, tensor)
                                     : plan->Output(operands[i].parameter, &tensor));
  }
  launch.args.push_back(plan->Number("n", static_cast<uint32_t>(out.count)));
  launch.args.push_back(plan->Number("dtype", static_cast<uint32_t>(out.dtype)));
  for (const ElementsNumber& one : numbers) launch.args.push_back(plan->Number(one.parameter, one.value));
  plan->Add(std::move(launch));
  return plan->Finish();
}

}  // namespace gn_host
