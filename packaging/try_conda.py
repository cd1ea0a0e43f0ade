#!/usr/bin/env python3
"""Renders both variants of the recipe for conda-forge and looks at them. It builds nothing: that takes the channel.
Needs `pip install py-rattler-build`.
"""

import pathlib

from rattler_build import PlatformConfig, RenderConfig, Stage0Recipe, VariantConfig

RECIPE = pathlib.Path(__file__).parent / "conda-forge" / "recipe.yaml"
# What a feedstock's own settings say.
VARIANTS = {"cuda_compiler_version": ["None", "13.0"], "cuda_compiler": ["cuda-nvcc"], "cxx_compiler": ["gxx"],
            "c_stdlib": ["sysroot"]}


def main():
    linux = PlatformConfig(target_platform="linux-64", build_platform="linux-64", host_platform="linux-64")
    rendered = Stage0Recipe.from_file(RECIPE).render(VariantConfig(VARIANTS), RenderConfig(platform=linux))
    variants = {recipe["build"]["string"].split("_")[0]: recipe
                for recipe in (variant.recipe.to_dict() for variant in rendered)}
    assert sorted(variants) == ["cpu", "cuda130"], f"expected cpu and cuda130, got {sorted(variants)}"
    cpu, cuda = variants["cpu"], variants["cuda130"]
    needs = [need for kind in ("build", "host", "run") for need in cpu["requirements"].get(kind, [])]
    assert "cuda" not in str(needs), f"CUDA in the variant for the CPU: {needs}"
    assert any("cuda-nvcc" in str(need) for need in cuda["requirements"]["build"]), cuda["requirements"]["build"]
    assert "__cuda" in cuda["requirements"]["run"], "the variant of CUDA does not ask for a driver"
    backs = [variant["build"]["variant"]["down_prioritize_variant"] for variant in (cpu, cuda)]
    assert backs == [1, 0], f"expected that the variant for the CPU alone is put back, got {backs}"
    for variant in (cpu, cuda):
        assert variant["about"]["license_file"] == ["LICENSE", "THIRD_PARTY_NOTICES"], variant["about"]
        print(f"-- {variant['package']['name']} {variant['package']['version']} {variant['build']['string']}")


if __name__ == "__main__":
    main()
