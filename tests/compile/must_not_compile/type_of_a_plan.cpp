// A plan is asked of a type that there is an operation for.
// MESSAGE: plan_matmul<T>: expected float or double as T
#include <gpu/matmul.hpp>

gpu::matmul_plan use() {
#ifdef MISUSE
  return gpu::plan_matmul<int>(3, 3, 3);
#else
  return gpu::plan_matmul<float>(3, 3, 3);
#endif
}
