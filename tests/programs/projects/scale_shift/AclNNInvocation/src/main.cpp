// Runs ScaleShift on ../input/input_x.bin and writes ../output/output_y.bin.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "acl/acl.h"
#include "op_runner.h"

int main(int argc, char** argv) {
  const char* output = "../output";
  if (access(output, 0) == -1 && mkdir(output, 0700) != 0) {
    printf("[ERROR] cannot make %s\n", output);
    return 1;
  }
  if (aclInit(nullptr) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) return 1;
  aclrtRunMode mode;
  if (aclrtGetRunMode(&mode) != ACL_SUCCESS || mode != ACL_HOST) return 1;
  bool done = false;
  {
    OperatorDesc desc;
    desc.AddInput(ACL_FLOAT, {5, 777});
    desc.AddOutput(ACL_FLOAT, {5, 777});
    OpRunner runner(desc);
    done = runner.Init() && runner.ReadInput(0, "../input/input_x.bin") && runner.Run(-1.5, 3.0) &&
           runner.WriteOutput(0, "../output/output_y.bin");
  }
  aclrtResetDevice(0);
  aclFinalize();
  printf(done ? "[INFO] run op success\n" : "[ERROR] run op failed\n");
  return done ? 0 : 1;
}
