// nullptr is no stream: the default stream is what an execution has unless told otherwise.
#include <gpu/execution.hpp>

gpu::execution use() {
#ifdef MISUSE
  return {.stream = nullptr};
#else
  return {};
#endif
}
