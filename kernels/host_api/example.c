/* GroupNorm from C: the whole way of one call. docs/host-api.md says how to build it; it prints y, mean and 1 / sqrt(variance + eps). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "gn_group_norm.h"

enum { N = 1, C = 4, HXW = 3, GROUPS = 2, ELEMENTS = N * C * HXW, STATISTICS = N * GROUPS };

/* Stops the program with the API's own text, unless the call succeeded. */
static void check(GnStatus status) {
  if (status == GN_SUCCESS) return;
  const char* const text = GnGetRecentErrMsg();
  fprintf(stderr, "error %" PRId32 ": %s\n", status, text != NULL ? text : "no text");
  exit(EXIT_FAILURE);
}

/* A contiguous tensor: each stride is the product of the axes behind it. */
static GnTensor* describe(float* data, const int64_t* dims, uint64_t rank) {
  int64_t strides[8];
  for (uint64_t axis = rank; axis > 0; --axis)
    strides[axis - 1] = axis == rank ? 1 : strides[axis] * dims[axis];
  GnTensor* tensor = NULL;
  check(GnCreateTensor(dims, rank, GN_FLOAT, strides, 0, dims, rank, data, &tensor));
  return tensor;
}

static void print(const char* name, const float* numbers, int count) {
  printf("%s:", name);
  for (int i = 0; i < count; ++i) printf(" %.4f", (double)numbers[i]);
  printf("\n");
}

int main(void) {
  float x[ELEMENTS] = {1, 2, 4, 8, 9, 6, -3, 0, 2, 5, 5, 1};
  float gamma[C] = {1, 2, 1, 0.5f};
  float y[ELEMENTS], mean[STATISTICS], rstd[STATISTICS];
  const int64_t dims[] = {N, C, HXW}, channels[] = {C}, statistics[] = {N, GROUPS};
  GnTensor* const self = describe(x, dims, 3);
  GnTensor* const scale = describe(gamma, channels, 1);
  GnTensor* const out = describe(y, dims, 3);
  GnTensor* const mean_out = describe(mean, statistics, 2);
  GnTensor* const rstd_out = describe(rstd, statistics, 2);

  /* First call: everything is checked, nothing is computed. No beta: zeros. */
  uint64_t size = 0;
  GnExecutor* executor = NULL;
  check(GroupNormGetWorkspaceSize(self, scale, NULL, N, C, HXW, GROUPS, 1e-5, out, mean_out, rstd_out, &size, &executor));
  void* const workspace = malloc(size);
  if (size > 0 && workspace == NULL) return EXIT_FAILURE;

  /* Second call: queued on the stream. The results are there after the stream was waited for. */
  GnStream* stream = NULL;
  check(GnCreateStream(&stream));
  check(GroupNorm(workspace, size, executor, stream));
  check(GnSynchronizeStream(stream));
  print("y", y, ELEMENTS);
  print("mean", mean, STATISTICS);
  print("rstd", rstd, STATISTICS);

  /* A refusal: three groups do not divide four channels. */
  const GnStatus refused =
      GroupNormGetWorkspaceSize(self, scale, NULL, N, C, HXW, 3, 1e-5, out, mean_out, rstd_out, &size, &executor);
  printf("refused with %" PRId32 ": %s\n", refused, GnGetRecentErrMsg());

  check(GnDestroyStream(stream));
  check(GnDestroyTensor(self));
  check(GnDestroyTensor(scale));
  check(GnDestroyTensor(out));
  check(GnDestroyTensor(mean_out));
  check(GnDestroyTensor(rstd_out));
  free(workspace);
  return EXIT_SUCCESS;
}
