#!/usr/bin/env bash
# Builds build/custom_opp_*.run, which installs the operators when it is run. Not run with CANN here.
# Needs CANN 9.0 or later and cmake.
set -euo pipefail
cd "$(dirname "$0")"
: "${ASCEND_HOME_PATH:?is not set: source set_env.sh of the CANN toolkit first}"

rm -rf build
cmake -S . -B build
cmake --build build --target binary -j
cmake --build build --target package -j
ls build/custom_opp_*.run
