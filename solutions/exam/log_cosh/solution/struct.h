struct LogCoshTilingData {
  uint32_t length;    // elements in all
  uint32_t perBlock;  // elements of a block, a multiple of 16
  uint32_t tile;      // elements at once
};
