#define GPU_SIMILARITY_LEVEL baseline
#define GPU_SIMILARITY_VECTOR_BYTES 16
#include "cpu/rank/counting_body.hpp"

namespace gpu::cpu::baseline {

const counting_kernels kernels{count<std::int8_t>,
                               count<std::int16_t>,
                               count<std::int32_t>,
                               count<std::int64_t>,
                               narrow,
                               widen};

}  // namespace gpu::cpu::baseline
