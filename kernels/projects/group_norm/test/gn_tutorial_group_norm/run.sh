#!/usr/bin/env bash
# Calls GnTutorialGroupNorm on an NPU through aclnn, and compares: every case of gen_data.py. Not run on an NPU here.
# Needs the package of build.sh, installed, and Python with NumPy.
set -euo pipefail
cd "$(dirname "$0")"
toolkit=${ASCEND_HOME_PATH:-${ASCEND_INSTALL_PATH:-${ASCEND_TOOLKIT_HOME:-/usr/local/Ascend/ascend-toolkit/latest}}}
package=$toolkit/opp/vendors/customize/op_api
[ -d "$package" ] || package=$HOME/vendors/customize/op_api

g++ -std=c++17 -O1 -I"$toolkit/include" -I"$package/include" main.cpp -L"$toolkit/lib64" -L"$package/lib" \
  -lcust_opapi -lnnopbase -lascendcl -o execute_op
export LD_LIBRARY_PATH=$package/lib:$toolkit/lib64:${LD_LIBRARY_PATH:-}
cases=$(python3 gen_data.py --count)
for ((number = 0; number < cases; ++number)); do
  python3 gen_data.py "$number"
  ./execute_op
  python3 verify_result.py
done
