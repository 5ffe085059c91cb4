// The host functions of the Ascend runtime that kernel samples call. Device memory is ordinary memory of this process
// (gn_twin/host/acl_runtime.h).
//
// Source: the documented behaviour of the acl runtime interface (device, context, stream, memory). Functions that load
// models (aclmdl) or run an operator by its name (aclop) are not here, because they need an installed operator package.
// The aclnn functions of a project's own operator are made when its test is built (gn_twin/host/aclnn_call.h).
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "kernel_operator.h"

#include "gn_twin/host/acl_objects.h"
#include "gn_twin/host/acl_runtime.h"

typedef int aclError;
typedef void* aclrtStream;
typedef void* aclrtContext;
typedef void* aclrtEvent;
typedef uint16_t aclFloat16;

#define ACL_SUCCESS 0
#define ACL_ERROR_NONE 0
#define ACL_ERROR_INVALID_PARAM 100000
#define ACL_ERROR_BAD_ALLOC 200000
#define ACL_ERROR_INTERNAL_ERROR 500000
#define ACL_ERROR_FAILURE 500001
#define ACL_ERROR_GE_FAILURE 500002
#define ACL_ERROR_RT_FAILURE 500003
#define ACL_ERROR_RT_MEMORY_ALLOCATION 207001

typedef enum aclrtMemMallocPolicy {
  ACL_MEM_MALLOC_HUGE_FIRST,
  ACL_MEM_MALLOC_HUGE_ONLY,
  ACL_MEM_MALLOC_NORMAL_ONLY,
} aclrtMemMallocPolicy;

typedef enum aclrtMemcpyKind {
  ACL_MEMCPY_HOST_TO_HOST,
  ACL_MEMCPY_HOST_TO_DEVICE,
  ACL_MEMCPY_DEVICE_TO_HOST,
  ACL_MEMCPY_DEVICE_TO_DEVICE,
  ACL_MEMCPY_DEFAULT,
} aclrtMemcpyKind;

typedef enum aclrtRunMode { ACL_DEVICE, ACL_HOST } aclrtRunMode;

typedef enum aclrtDevAttr {
  ACL_DEV_ATTR_AICPU_CORE_NUM = 1,
  ACL_DEV_ATTR_AICORE_CORE_NUM = 101,
  ACL_DEV_ATTR_CUBE_CORE_NUM = 102,
  ACL_DEV_ATTR_VECTOR_CORE_NUM = 201,
} aclrtDevAttr;

using GntLoc = gn_twin::Loc;

inline aclError aclInit(const char*) { return ACL_SUCCESS; }
inline aclError aclFinalize() { return ACL_SUCCESS; }
inline aclError aclrtSetDevice(int32_t) { return ACL_SUCCESS; }
inline aclError aclrtResetDevice(int32_t) { return ACL_SUCCESS; }
inline aclError aclrtResetDeviceForce(int32_t) { return ACL_SUCCESS; }
inline aclError aclrtGetDevice(int32_t* device) {
  *device = 0;
  return ACL_SUCCESS;
}
inline aclError aclrtGetDeviceCount(uint32_t* count) {
  *count = 1;
  return ACL_SUCCESS;
}
inline aclError aclrtGetRunMode(aclrtRunMode* mode) {
  *mode = ACL_HOST;
  return ACL_SUCCESS;
}
inline const char* aclrtGetSocName() { return "Ascend910B2"; }
inline const char* aclGetRecentErrMsg() { return ""; }
// Gives 48 for the vector cores and 24 for any other attribute, such as the cube cores. These are the numbers of the
// default chip in gn_tutorial/machines.
inline aclError aclrtGetDeviceInfo(uint32_t, aclrtDevAttr attribute, int64_t* value) {
  *value = attribute == ACL_DEV_ATTR_VECTOR_CORE_NUM ? 48 : 24;
  return ACL_SUCCESS;
}

inline aclError aclrtCreateContext(aclrtContext* context, int32_t) {
  *context = gn_twin::host::running;
  return ACL_SUCCESS;
}
inline aclError aclrtDestroyContext(aclrtContext) { return ACL_SUCCESS; }
inline aclError aclrtSetCurrentContext(aclrtContext) { return ACL_SUCCESS; }
inline aclError aclrtGetCurrentContext(aclrtContext* context) { return aclrtCreateContext(context, 0); }

inline aclError aclrtCreateStream(aclrtStream* stream) {
  *stream = gn_twin::host::Now().MakeStream();
  return ACL_SUCCESS;
}
inline aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t, uint32_t) {
  return aclrtCreateStream(stream);
}
inline aclError aclrtDestroyStream(aclrtStream stream, GntLoc loc = GntLoc::here()) {
  gn_twin::host::Now().DestroyStream(stream, loc);
  return ACL_SUCCESS;
}
inline aclError aclrtSynchronizeStream(aclrtStream stream, GntLoc loc = GntLoc::here()) {
  gn_twin::host::Now().Synchronize(stream, loc);
  return ACL_SUCCESS;
}
inline aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t, GntLoc loc = GntLoc::here()) {
  return aclrtSynchronizeStream(stream, loc);
}
inline aclError aclrtSynchronizeDevice() {
  gn_twin::host::Now().SynchronizeAll();
  return ACL_SUCCESS;
}

inline aclError aclrtMalloc(void** at, size_t bytes, aclrtMemMallocPolicy, GntLoc loc = GntLoc::here()) {
  if (bytes == 0) return ACL_ERROR_INVALID_PARAM;
  *at = gn_twin::host::Now().Allocate(bytes, gn_twin::host::Where::Device, "aclrtMalloc", loc);
  return *at != nullptr ? ACL_SUCCESS : ACL_ERROR_RT_MEMORY_ALLOCATION;
}
inline aclError aclrtFree(void* at, GntLoc loc = GntLoc::here()) {
  gn_twin::host::Now().Free(at, gn_twin::host::Where::Device, "aclrtFree", loc);
  return ACL_SUCCESS;
}
inline aclError aclrtMallocHost(void** at, size_t bytes, GntLoc loc = GntLoc::here()) {
  if (bytes == 0) return ACL_ERROR_INVALID_PARAM;
  *at = gn_twin::host::Now().Allocate(bytes, gn_twin::host::Where::Host, "aclrtMallocHost", loc);
  return *at != nullptr ? ACL_SUCCESS : ACL_ERROR_RT_MEMORY_ALLOCATION;
}
inline aclError aclrtFreeHost(void* at, GntLoc loc = GntLoc::here()) {
  gn_twin::host::Now().Free(at, gn_twin::host::Where::Host, "aclrtFreeHost", loc);
  return ACL_SUCCESS;
}

// Returns the side of a copy's destination (if `destination`) or source: 1 the device, 0 the host, -1 unknown
// (ACL_MEMCPY_DEFAULT).
inline int GntSide(aclrtMemcpyKind kind, bool destination) {
  if (kind == ACL_MEMCPY_DEFAULT) return -1;
  if (kind == ACL_MEMCPY_DEVICE_TO_DEVICE) return 1;
  return kind == (destination ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST) ? 1 : 0;
}
inline void GntCopy(const char* op, void* to, size_t room, const void* from, size_t bytes, aclrtMemcpyKind kind,
                    GntLoc loc) {
  gn_twin::host::Runtime& now = gn_twin::host::Now();
  if (bytes > room) {
    now.Stop("host-copy-too-long", loc, {{"op", op}, {"bytes", bytes}, {"room", room}});
  }
  if (bytes == 0) return;
  now.CheckRange(to, bytes, op, "destination", GntSide(kind, true), loc);
  now.CheckRange(from, bytes, op, "source", GntSide(kind, false), loc);
  memmove(to, from, bytes);
}
inline aclError aclrtMemcpy(void* to, size_t room, const void* from, size_t bytes, aclrtMemcpyKind kind,
                            GntLoc loc = GntLoc::here()) {
  if (kind == ACL_MEMCPY_DEVICE_TO_HOST) gn_twin::host::Now().WarnIfUnfinished("aclrtMemcpy", loc);
  GntCopy("aclrtMemcpy", to, room, from, bytes, kind, loc);
  return ACL_SUCCESS;
}
inline aclError aclrtMemcpyAsync(void* to, size_t room, const void* from, size_t bytes, aclrtMemcpyKind kind,
                                 aclrtStream stream, GntLoc loc = GntLoc::here()) {
  gn_twin::host::Now().CheckStream(stream, "aclrtMemcpyAsync", loc);
  GntCopy("aclrtMemcpyAsync", to, room, from, bytes, kind, loc);
  return ACL_SUCCESS;
}
inline aclError aclrtMemset(void* at, size_t room, int32_t value, size_t bytes, GntLoc loc = GntLoc::here()) {
  gn_twin::host::Runtime& now = gn_twin::host::Now();
  if (bytes > room) {
    now.Stop("host-copy-too-long", loc, {{"op", "aclrtMemset"}, {"bytes", bytes}, {"room", room}});
  }
  now.CheckRange(at, bytes, "aclrtMemset", "destination", -1, loc);
  memset(at, value, bytes);
  return ACL_SUCCESS;
}
inline aclError aclrtMemsetAsync(void* at, size_t room, int32_t value, size_t bytes, aclrtStream,
                                 GntLoc loc = GntLoc::here()) {
  return aclrtMemset(at, room, value, bytes, loc);
}

inline float aclFloat16ToFloat(aclFloat16 value) { return static_cast<float>(__builtin_bit_cast(half, value)); }
inline aclFloat16 aclFloatToFloat16(float value) { return __builtin_bit_cast(aclFloat16, half(value)); }
