struct LogCoshTilingData {
  uint64_t length;  // elements in all; each block works out its own share
};
