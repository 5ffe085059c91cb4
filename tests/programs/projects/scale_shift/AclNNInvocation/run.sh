#!/bin/bash
# The test of an 8.x project: data, cmake and make, the program, the comparison.
CURRENT_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ -n "$ASCEND_INSTALL_PATH" ]; then
    toolkit=$ASCEND_INSTALL_PATH
else
    toolkit=$HOME/Ascend/ascend-toolkit/latest
fi
# shellcheck disable=SC1091
source "$toolkit/bin/setenv.bash"
export DDK_PATH=$toolkit
NPU_HOST_LIB=$toolkit/$(arch)-$(uname -s | tr '[:upper:]' '[:lower:]')/devlib
export NPU_HOST_LIB

function main {
    rm -rf "$HOME"/ascend/log/*
    rm -f "$CURRENT_DIR"/input/*.bin "$CURRENT_DIR"/output/*.bin
    cd "$CURRENT_DIR" || return 1
    if ! python3 scripts/gen_data.py; then
        echo "ERROR: generate input data failed!"
        return 1
    fi
    rm -rf build && mkdir -p build && cd build || return 1
    if ! cmake ../src -DCMAKE_SKIP_RPATH=TRUE || ! make; then
        echo "ERROR: make failed!"
        return 1
    fi
    cd "$CURRENT_DIR/output" || return 1
    export LD_LIBRARY_PATH=$toolkit/opp/vendors/customize/op_api/lib:$LD_LIBRARY_PATH
    if ! ./execute_scale_shift_op; then
        echo "ERROR: acl executable run failed! please check your project!"
        return 1
    fi
    cd "$CURRENT_DIR" || return 1
    if ! python3 scripts/verify_result.py output/output_y.bin output/golden.bin; then
        echo "ERROR: verify result failed!"
        return 1
    fi
}

main
