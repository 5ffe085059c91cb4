# Stands where CANN's package ASC would: the language ASC, compiled by ../bisheng. Only what kernels/npu/CMakeLists.txt asks of it.
list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")
