struct ClipNormTilingData {
  uint64_t length;    // elements in all
  uint64_t perBlock;  // elements that a block writes, a multiple of 16
  float limit;
};
