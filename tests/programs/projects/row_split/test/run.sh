#!/usr/bin/env bash
# One line that compiles, and the program, which compares by itself.
set -euo pipefail
cd "$(dirname "$0")"

g++ -I"$ASCEND_TOOLKIT_HOME/include" -I"$HOME/vendors/customize/op_api/include" -L"$ASCEND_TOOLKIT_HOME/lib64" \
    -L"$HOME/vendors/customize/op_api/lib" main.cpp -lcust_opapi -lnnopbase -lacl_rt -o row_split_test
./row_split_test
