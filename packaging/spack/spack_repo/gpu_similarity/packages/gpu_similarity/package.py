# For Spack 1.0 or newer. The repository of this one package is in the checkout:
#   spack repo add packaging/spack/spack_repo/gpu_similarity && spack install gpu-similarity
# A release adds a version with the hash of its archive: docs/releasing.md.
from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class GpuSimilarity(CMakePackage, CudaPackage):
    """Significant correlations among all pairs of rows of a table: Spearman and Pearson with
    p-values, exact, on the CPU and on CUDA."""

    homepage = "https://github.com/gpu-similarity/gpu-similarity"
    git = "https://github.com/gpu-similarity/gpu-similarity.git"

    license("Apache-2.0")

    version("main", branch="main")

    variant("shared", default=True, description="Build a shared library")
    variant("openblas", default=True, description="OpenBLAS for dense products on the CPU")
    variant("tools", default=True, description="The command gpu-similarity")
    variant("zstd", default=True, when="+tools", description="Files of the command compressed by zstd")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("fmt@9.1:", type="build")
    depends_on("cli11@2.1:", type="build", when="+tools")
    depends_on("zlib-api", when="+tools")
    depends_on("zstd", when="+zstd")
    depends_on("openblas threads=openmp", when="+openblas")
    depends_on("cuda@12.4:", when="+cuda")

    conflicts("%gcc@:10", msg="C++20 needs GCC 11 or newer")
    conflicts("platform=windows")
    conflicts("platform=darwin")

    def cmake_args(self):
        args = [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("GPU_SIMILARITY_BUILD_CLI", "tools"),
            self.define_from_variant("GPU_SIMILARITY_ENABLE_CUDA", "cuda"),
            self.define_from_variant("GPU_SIMILARITY_ENABLE_OPENBLAS", "openblas"),
            self.define_from_variant("GPU_SIMILARITY_ENABLE_ZSTD", "zstd"),
            self.define("GPU_SIMILARITY_BUILD_TESTS", self.run_tests),
            self.define("GPU_SIMILARITY_BUILD_BENCH", False),
            self.define("GPU_SIMILARITY_BUILD_EXAMPLES", False),
        ]
        if self.spec.satisfies("+cuda"):
            listed = self.spec.variants["cuda_arch"].value
            if "none" not in listed:
                # From 9.0 on the kernels use the features of the very architecture, which have an "a" in its name.
                plain = [a.rstrip("af") for a in listed]
                names = [f"{a}a-real" if int(a) >= 90 else f"{a}-real" for a in plain]
                args.append(self.define("CMAKE_CUDA_ARCHITECTURES", ";".join(names)))
        return args
