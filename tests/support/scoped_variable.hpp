#pragma once
// A variable of the environment for the life of a scope.

#include <cstdlib>

namespace gpu_test {

class scoped_variable {
 public:
  scoped_variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~scoped_variable() { unsetenv(name_); }
  scoped_variable(const scoped_variable&) = delete;
  scoped_variable& operator=(const scoped_variable&) = delete;

 private:
  const char* name_;
};

}  // namespace gpu_test
