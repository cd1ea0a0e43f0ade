"""gpu-similarity for Conan 2, for the CPU: a toolkit of CUDA is no Conan package."""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rm, rmdir

required_conan_version = ">=2.0"


class GpuSimilarity(ConanFile):
    name = "gpu-similarity"
    description = "Significant correlations among all pairs of rows, exact, on the CPU"
    license = "Apache-2.0"
    homepage = "https://github.com/gpu-similarity/gpu-similarity"
    url = homepage
    topics = ("correlation", "statistics", "spearman", "pearson")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "shared": [True, False],
        "fPIC": [True, False],
        # OpenBLAS for dense products; without it they take plain loops, and nothing else changes.
        "with_openblas": [True, False],
    }
    default_options = {"shared": False, "fPIC": True, "with_openblas": False}
    implements = ["auto_shared_fpic"]

    def set_version(self):
        lists = load(self, os.path.join(self.recipe_folder, "..", "..", "CMakeLists.txt"))
        self.version = re.search(r"project\(gpu_similarity VERSION ([0-9.]+)", lists).group(1)

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "THIRD_PARTY_NOTICES", "cmake/*", "include/*",
                        "src/*", "kernels/*"):
            copy(self, pattern, root, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        # Its headers are used, inside the library alone.
        self.requires("fmt/[>=9.1 <12]", visible=False, options={"header_only": True})
        if self.options.with_openblas:
            self.requires("openblas/[>=0.3.20 <1]")

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("gpu-similarity runs on Linux alone")

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        variables = toolchain.cache_variables
        variables["GPU_SIMILARITY_ENABLE_CUDA"] = "OFF"
        variables["GPU_SIMILARITY_ENABLE_OPENBLAS"] = "ON" if self.options.with_openblas else "OFF"
        variables["GPU_SIMILARITY_ENABLE_ZSTD"] = "OFF"
        for part in ("TESTS", "BENCH", "EXAMPLES", "CLI"):
            variables[f"GPU_SIMILARITY_BUILD_{part}"] = "OFF"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        for file in ("LICENSE", "THIRD_PARTY_NOTICES"):
            copy(self, file, self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        # Conan describes the package to CMake and pkg-config itself.
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))
        rmdir(self, os.path.join(self.package_folder, "share"))
        rm(self, "*.la", self.package_folder, recursive=True)

    def package_info(self):
        self.cpp_info.libs = ["gpu_similarity"]
        self.cpp_info.set_property("cmake_file_name", "gpu_similarity")
        self.cpp_info.set_property("cmake_target_name", "gpu::similarity")
        self.cpp_info.set_property("pkg_config_name", "gpu-similarity")
        if not self.options.shared:
            self.cpp_info.defines = ["GPU_SIMILARITY_STATIC_DEFINE"]
            self.cpp_info.system_libs = ["pthread", "m"]
