struct RelDiffTilingData {
  uint32_t rows;            // x has so many rows of y's length
  uint32_t row;             // elements of y
  uint32_t rowBlocks;       // blocks beside one another share the rows,
  uint32_t rowsOfBlock;     //
  uint32_t columnsOfBlock;  // blocks one behind the other the elements of a row
};
