// Entry points of a project's host library (gn_twin/base/abi.h). They describe its operators, or infer and tile one
// call.
//
// The launcher runs this library like a kernel, so the launcher notices a crash, an endless loop or a forbidden system
// call of the project. Arguments: a request as text, and memory for the answer, a JSON document that ends with a NUL.
// gn_tutorial/projects/host_call.py writes the request and reads the answer.
#pragma once
#include "gn_twin/base/abi.h"
#include "gn_twin/op_host/crash.h"
#include "gn_twin/op_host/describe.h"
#include "gn_twin/op_host/host_call.h"

namespace gn_twin::op_host {

inline std::string Answer(const std::string& request) {
  if (request == "describe") {
    HostDescription description;
    return description.Text();
  }
  HostCall call(request);
  return call.Run();
}

}  // namespace gn_twin::op_host

extern "C" {
GNT_EXPORT uint32_t gnt_abi() { return GNT_ABI_VERSION << 16 | sizeof(GntJob); }
GNT_EXPORT const char* gnt_entries() { return "project_host"; }
GNT_EXPORT int32_t gnt_run(const char*, GntJob* job) {
  using namespace gn_twin::op_host;
  if (job->arg_count != 2) return GNT_BAD_CALL;
  const GntArg &asked = job->args[0], &answered = job->args[1];
  InstallCrashHandlers();
  std::string text;
  try {
    text = Answer(std::string(reinterpret_cast<const char*>(asked.data), asked.bytes));
  } catch (const std::exception& error) {
    gn_twin::JsonWriter json;
    json.Open('{').Member("exception", error.what()).Close('}');
    text = json.Text();
  }
  if (text.size() >= answered.bytes) text = "{\"too_long\":" + std::to_string(text.size()) + "}";
  memcpy(answered.data, text.c_str(), text.size() + 1);
  return GNT_OK;
}
}
