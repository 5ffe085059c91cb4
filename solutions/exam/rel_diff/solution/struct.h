struct RelDiffTilingData {
  uint32_t length;    // elements of x
  uint32_t row;       // elements of y: each so many of x meet all of it
  uint32_t perBlock;  // elements of x in a block: whole units of 32 bytes
  uint32_t tile;      // elements at once
};
