#define GPU_SIMILARITY_LEVEL avx2
#define GPU_SIMILARITY_VECTOR_BYTES 32
#include "cpu/rank/counting_body.hpp"

namespace gpu::cpu::avx2 {

const counting_kernels kernels{count<std::int8_t>,
                               count<std::int16_t>,
                               count<std::int32_t>,
                               count<std::int64_t>,
                               narrow,
                               widen};

}  // namespace gpu::cpu::avx2
