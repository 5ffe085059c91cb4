struct MishTilingData {
  uint32_t length;    // elements in all
  uint32_t perBlock;  // elements of every block but the last: whole units of 32 bytes
};
