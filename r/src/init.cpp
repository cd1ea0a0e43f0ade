#include "call.hpp"
#include "entries.hpp"

#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

namespace {

// R's table: the name, the function, the number of its arguments.
template <class... Arguments>
R_CallMethodDef entry(const char* name, SEXP (*function)(Arguments...)) {
  return {name, reinterpret_cast<DL_FUNC>(reinterpret_cast<void*>(function)), sizeof...(Arguments)};
}

}  // namespace

extern "C" attribute_visible void R_init_gpusimilarity(DllInfo* library) {
#define ENTRY(name) entry(#name, &gpu_r::name)
  static const R_CallMethodDef entries[] = {
      ENTRY(edges),        ENTRY(stream),       ENTRY(dense),          ENTRY(counts),
      ENTRY(partners),     ENTRY(plan),         ENTRY(discoveries),    ENTRY(next_search),
      ENTRY(observations), ENTRY(connectivity), ENTRY(scale_free_fit), ENTRY(topological_overlap),
      ENTRY(differential), ENTRY(max_t),        ENTRY(max_t_cut),      ENTRY(max_t_p),
      ENTRY(rank_rows),    ENTRY(mean_filter),  ENTRY(top_values),     ENTRY(tanimoto),
      ENTRY(p_values),     ENTRY(adjusted_p),   ENTRY(confidence),     ENTRY(add_checksums),
      ENTRY(measures),     ENTRY(backends),     ENTRY(devices),        {nullptr, nullptr, 0}};
#undef ENTRY
  R_registerRoutines(library, nullptr, entries, nullptr, nullptr);
  R_useDynamicSymbols(library, FALSE);
  R_forceSymbols(library, TRUE);
  gpu_r::watch_forks();
}
