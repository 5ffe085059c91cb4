// Prints what the host files of this program registered and, with the argument "calls", what each function answers to a
// null pointer for a context.
#include <stdio.h>
#include <string.h>

#include "gn_twin/op_host/describe.h"

int main(int count, char** words) {
  puts(gn_twin::DescribeHostOperators().c_str());
  if (count < 2 || strcmp(words[1], "calls") != 0) return 0;
  for (gn_twin::HostOperator& one : gn_twin::HostOperators()) {
    printf("%s tiling %d", one.type.c_str(), one.Tiling() ? static_cast<int>(one.Tiling()(nullptr)) : -1);
    printf(" infer_shape %d", one.InferShape() ? static_cast<int>(one.InferShape()(nullptr)) : -1);
    printf(" infer_data_type %d", one.InferDataType() ? static_cast<int>(one.InferDataType()(nullptr)) : -1);
    printf(" parse %d", one.TilingParse() ? static_cast<int>(one.TilingParse()(nullptr)) : -1);
    if (one.compile_info.create != nullptr) {
      void* info = one.compile_info.create();
      printf(" info %d", *static_cast<int*>(info));
      one.compile_info.destroy(info);
    }
    printf("\n");
  }
}
