struct RowStandardTilingData {
  uint32_t rows;          // in all
  uint32_t length;        // elements of a row
  uint32_t rowsPerBlock;  // the last blocks may have fewer
  float eps;
};
