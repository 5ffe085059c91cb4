struct LogCoshTilingData {
  uint32_t length;    // elements in all
  uint32_t perBlock;  // elements of a block, a multiple of 16; the last one has the rest
  uint32_t tile;      // elements at once
};
