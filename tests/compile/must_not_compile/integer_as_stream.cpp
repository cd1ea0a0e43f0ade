// A number is no stream, not even 0.
#include <gpu/execution.hpp>

gpu::execution use(CUstream_st* stream) {
#ifdef MISUSE
  static_cast<void>(stream);
  return {.stream = 0};
#else
  return {.stream = stream};
#endif
}
