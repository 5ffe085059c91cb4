// How a copy between two strided views is divided: rows that one instruction moves, and loops around them.
//
// Plain C++ without any Ascend C header: the kernel, the host API, the twin and Python share it. The 8-byte fields stand first, so
// that nothing is padded and the size is a multiple of 8, as CANN asks of tiling data.
#pragma once
#include <cstdint>

constexpr int32_t kStridedCopyAxes = 8;  // the most axes that a tensor of the ecosystem's operators has

struct StridedCopyTilingData {
  uint64_t loopCounts[8];  // axes around the rows, outermost first
  uint64_t srcStrides[8];  // of these, in elements
  uint64_t dstStrides[8];
  uint64_t srcPitch;  // elements from one row to the next
  uint64_t dstPitch;
  uint64_t rows;         // of one turn of the loops
  uint64_t rowElements;  // of a row: contiguous on both sides
  uint64_t srcElements;  // from the first element of the view to its last, for the bounds of global memory
  uint64_t dstElements;
  uint64_t unitsPerCore;  // every core moves this many tiles,
  uint64_t extraUnits;    // and the first extraUnits cores one more
  uint32_t loops;
  uint32_t rowsPerTile;
  uint32_t partElements;  // of a row that is too long for a tile
  uint32_t rowTiles;      // tiles of one turn of the loops: rowTiles * rowParts
  uint32_t rowParts;
  uint32_t itemBytes;  // 2 or 4
  uint32_t usedCores;  // blocks to launch; 0: there is nothing to copy
  uint32_t reserved;   // makes the size a multiple of 8
};

// A tile is 64 KiB, and two of them are in the 192 KiB of the Unified Buffer. One instruction moves at most 4095 rows, and each row
// takes whole blocks of 32 bytes there.
constexpr uint64_t kStridedCopyTile = 64 * 1024;
constexpr uint64_t kStridedCopyRows = 4095;
constexpr uint64_t kStridedCopyBlock = 32;

// Fills *tiling for dst[i] = src[i], i running over `rank` axes of `counts` elements; strides are in elements, none of them negative.
// A stride of src may be 0 (an element that is read again); two elements of dst must not be one, which the caller has checked.
// Returns nullptr, or why these arguments are refused; *tiling is then untouched.
inline const char* MakeStridedCopyTiling(int32_t rank, const int64_t* counts, const int64_t* srcStrides,
                                         const int64_t* dstStrides, int32_t itemBytes, int32_t cores,
                                         StridedCopyTilingData* tiling) {
  if (rank < 0 || rank > kStridedCopyAxes) return "a view has at most 8 axes";
  if (itemBytes != 2 && itemBytes != 4) return "elements of 2 or 4 bytes can be copied";
  if (cores <= 0) return "the number of cores must be positive";
  struct Axis {
    uint64_t count, src, dst;
  };
  Axis axes[kStridedCopyAxes] = {};
  int32_t used = 0;
  StridedCopyTilingData made{};
  made.srcElements = made.dstElements = 1;
  for (int32_t axis = 0; axis < rank; ++axis) {
    if (counts[axis] < 0 || srcStrides[axis] < 0 || dstStrides[axis] < 0) return "a count or a stride is negative";
    if (counts[axis] == 0) {
      *tiling = StridedCopyTilingData{};
      return nullptr;
    }
    const Axis next{static_cast<uint64_t>(counts[axis]), static_cast<uint64_t>(srcStrides[axis]),
                    static_cast<uint64_t>(dstStrides[axis])};
    if (next.count == 1) continue;
    made.srcElements += (next.count - 1) * next.src;
    made.dstElements += (next.count - 1) * next.dst;
    // Two axes that one step walks through on both sides are one axis.
    if (used > 0 && axes[used - 1].src == next.src * next.count && axes[used - 1].dst == next.dst * next.count) {
      axes[used - 1] = {axes[used - 1].count * next.count, next.src, next.dst};
    } else {
      axes[used++] = next;
    }
  }

  const auto parts = [](uint64_t whole, uint64_t most) { return (whole + most - 1) / most; };
  const auto take = [&](int32_t which) {
    const Axis taken = axes[which];
    for (int32_t axis = which; axis + 1 < used; ++axis) axes[axis] = axes[axis + 1];
    --used;
    return taken;
  };
  const uint64_t item = static_cast<uint64_t>(itemBytes);
  Axis run{1, 1, 1}, row{1, 1, 1};
  for (int32_t axis = used - 1; axis >= 0; --axis) {
    if (axes[axis].src != 1 || axes[axis].dst != 1) continue;
    run = take(axis);
    break;
  }
  // Rows of one instruction are a gap apart, of 0 to 2^32 - 1 bytes on either side; the longest such axis is the one to take.
  int32_t longest = -1;
  for (int32_t axis = 0; axis < used; ++axis) {
    const bool apart = axes[axis].src >= run.count && axes[axis].dst >= run.count &&
                       axes[axis].src <= UINT32_MAX / item && axes[axis].dst <= UINT32_MAX / item;
    if (apart && (longest < 0 || axes[axis].count > axes[longest].count)) longest = axis;
  }
  if (longest >= 0) row = take(longest);

  uint64_t turns = 1;
  for (int32_t axis = 0; axis < used; ++axis) {
    made.loopCounts[axis] = axes[axis].count;
    made.srcStrides[axis] = axes[axis].src;
    made.dstStrides[axis] = axes[axis].dst;
    turns *= axes[axis].count;
  }
  // Tiles as large as they may be, but enough of them for every core.
  const uint64_t wanted = parts(static_cast<uint64_t>(cores), turns);
  const uint64_t step = kStridedCopyBlock / item;
  uint64_t length = run.count < kStridedCopyTile / item ? run.count : kStridedCopyTile / item;
  if (row.count == 1 && parts(run.count, wanted) < length) length = parts(run.count, wanted);
  if (length < run.count) length = parts(length, step) * step;
  uint64_t height = kStridedCopyTile / (parts(length, step) * kStridedCopyBlock);
  height = height < kStridedCopyRows ? height : kStridedCopyRows;
  height = parts(row.count, wanted) < height ? parts(row.count, wanted) : height;

  const uint64_t tiles = parts(row.count, height), pieces = parts(run.count, length);
  const uint64_t units = turns * tiles * pieces;
  if (tiles > UINT32_MAX || pieces > UINT32_MAX) return "the view has too many rows";
  const uint64_t blocks = units < static_cast<uint64_t>(cores) ? units : static_cast<uint64_t>(cores);
  made.srcPitch = row.src;
  made.dstPitch = row.dst;
  made.rows = row.count;
  made.rowElements = run.count;
  made.unitsPerCore = units / blocks;
  made.extraUnits = units % blocks;
  made.loops = static_cast<uint32_t>(used);
  made.rowsPerTile = static_cast<uint32_t>(height);
  made.partElements = static_cast<uint32_t>(length);
  made.rowTiles = static_cast<uint32_t>(tiles);
  made.rowParts = static_cast<uint32_t>(pieces);
  made.itemBytes = static_cast<uint32_t>(itemBytes);
  made.usedCores = static_cast<uint32_t>(blocks);
  *tiling = made;
  return nullptr;
}

// The same for the registered operator, the simplest view that is not contiguous: y of shape (k, r) is x of shape (r, k) with its axes
// swapped. dtype as CANN numbers it (ge::DataType): 0 float32, 1 float16, 27 bfloat16.
inline const char* MakeTransposeTiling(int64_t r, int64_t k, int32_t cores, int32_t dtype,
                                       StridedCopyTilingData* tiling) {
  if (dtype != 0 && dtype != 1 && dtype != 27) return "x must be float32, float16 or bfloat16";
  const int64_t counts[] = {k, r}, src[] = {1, k}, dst[] = {r, 1};
  return MakeStridedCopyTiling(2, counts, src, dst, dtype == 0 ? 4 : 2, cores, tiling);
}
