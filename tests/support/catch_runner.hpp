#pragma once

namespace gpu_test {

/// Runs the cases that the arguments of main name, prints the notes of what was skipped and returns
/// the exit code.
int run_all_cases(int argc, char** argv);

}  // namespace gpu_test
