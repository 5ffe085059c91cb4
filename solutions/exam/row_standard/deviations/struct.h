struct RowStandardTilingData {
  uint32_t rows;    // in all; block b takes rows b, b + blocks, b + 2 blocks ...
  uint32_t length;  // elements of a row
  float inverse;    // 1 / length
  float eps;
};
