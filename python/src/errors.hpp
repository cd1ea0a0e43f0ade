#pragma once

namespace gpu_python {

// Turns the library's exceptions into those of gpu_similarity._shared.errors.
void translate_errors();

}  // namespace gpu_python
