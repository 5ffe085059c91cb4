// The functions of CANN's runtime that kernels/npu uses, declared as its public documentation has them, for tests on a machine without it.
// What they do is in ../stand_in.cpp.
#pragma once
#include <cstddef>
#include <cstdint>

using aclError = int;
using aclrtContext = void*;
using aclrtStream = void*;
using aclrtEvent = void*;
using aclmdlRI = void*;
using aclrtHostFunc = void (*)(void* args);
constexpr int ACL_SUCCESS = 0;
constexpr uint32_t ACL_EVENT_CAPTURE_STREAM_PROGRESS = 2;
enum aclrtMemcpyKind { ACL_MEMCPY_HOST_TO_HOST, ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST };
enum aclrtMemMallocPolicy { ACL_MEM_MALLOC_HUGE_FIRST };
enum aclrtEventRecordedStatus { ACL_EVENT_RECORDED_STATUS_NOT_READY = 0, ACL_EVENT_RECORDED_STATUS_COMPLETE = 1 };
enum aclmdlRICaptureMode { ACL_MODEL_RI_CAPTURE_MODE_GLOBAL = 0 };
enum aclmdlRICaptureStatus {
  ACL_MODEL_RI_CAPTURE_STATUS_NONE = 0,
  ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE,
  ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED
};
enum aclrtLastErrLevel { ACL_RT_THREAD_LEVEL = 0 };
enum aclrtDevAttr { ACL_DEV_ATTR_VECTOR_CORE_NUM = 201 };

extern "C" {
aclError aclInit(const char* config);
const char* aclrtGetSocName();
aclError aclrtSetDevice(int32_t device);
aclError aclrtMalloc(void** device, size_t size, aclrtMemMallocPolicy policy);
aclError aclrtFree(void* device);
aclError aclrtMemcpy(void* to, size_t most, const void* from, size_t count, aclrtMemcpyKind kind);
const char* aclGetRecentErrMsg();
aclError aclrtGetLastError(aclrtLastErrLevel level);
aclError aclrtGetDevice(int32_t* device);
aclError aclrtGetDeviceInfo(uint32_t device, aclrtDevAttr attr, int64_t* value);
aclError aclrtGetCurrentContext(aclrtContext* context);
aclError aclrtSetCurrentContext(aclrtContext context);
aclError aclrtCreateStream(aclrtStream* stream);
aclError aclrtDestroyStream(aclrtStream stream);
aclError aclrtSynchronizeStream(aclrtStream stream);
aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void* args);
aclError aclrtMallocHost(void** host, size_t size);
aclError aclrtFreeHost(void* host);
aclError aclrtMemcpyAsync(void* to, size_t most, const void* from, size_t count, aclrtMemcpyKind kind, aclrtStream stream);
aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag);
aclError aclrtDestroyEvent(aclrtEvent event);
aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);
aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode);
aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus* status, aclmdlRI* graph);
aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* graph);
aclError aclmdlRIExecuteAsync(aclmdlRI graph, aclrtStream stream);
aclError aclmdlRIDestroy(aclmdlRI graph);
aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status);
}
