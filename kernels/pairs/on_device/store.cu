// Host memory that travels as arguments of launches.

#include <cstring>

#include "kernels/common/launch.cuh"
#include "kernels/pairs/on_device/kernels.hpp"

namespace gpu::kernels {
namespace {

constexpr std::size_t piece_words = 8160;  // arguments take 32,764 bytes at most
constexpr int threads = 256;

struct piece {
  std::uint32_t words[piece_words];
};

__global__ void store(const __grid_constant__ piece from, std::uint32_t* to, int words) {
  for (int word = static_cast<int>(threadIdx.x); word < words; word += threads) {
    to[word] = from.words[word];
  }
}

}  // namespace

void launch_store(const void* from, std::size_t bytes, void* to, cudaStream_t stream) {
  const auto* source = static_cast<const unsigned char*>(from);
  auto* target = static_cast<std::uint32_t*>(to);
  constexpr std::size_t most = piece_words * sizeof(std::uint32_t);
  for (std::size_t at = 0; at < bytes; at += most) {
    const std::size_t here = bytes - at < most ? bytes - at : most;
    piece next;
    std::memcpy(next.words, source + at, here);
    store<<<1, threads, 0, stream>>>(next, target + at / sizeof(std::uint32_t),
                                     static_cast<int>(here / sizeof(std::uint32_t)));
    GPU_SIMILARITY_CHECK_LAUNCH();
  }
}

}  // namespace gpu::kernels
