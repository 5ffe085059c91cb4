struct MishTilingData {
  uint32_t length;    // elements in all
  uint32_t perBlock;  // elements of a block: whole units of 32 bytes
  uint32_t tile;      // elements at once
};
