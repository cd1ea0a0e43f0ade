#!/usr/bin/env bash
# try_conan.sh [CONAN]: builds the Conan package, static, and the consumer that uses it, in a Conan home
# of its own. fmt is the system's, so that nothing is asked of Conan's server. CONAN is the command
# (`pip install conan`).
set -euo pipefail
conan=${1:-conan}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
CONAN_HOME=${CONAN_HOME:-$(mktemp -d)}
export CONAN_HOME
"$conan" profile detect --force
cat >"$CONAN_HOME/profiles/system_fmt" <<'PROFILE'
include(default)
[settings]
compiler.cppstd=20
[platform_requires]
fmt/9.1.0
PROFILE
"$conan" create "$here/conan" --profile:all system_fmt --build=missing --no-remote
