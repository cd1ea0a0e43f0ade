#' @details
#' Start with [cor_edges()]. [options] says where and how calls run, [results] what results can do,
#' and [faces] has the functions of other packages.
#' @keywords internal
#' @useDynLib gpusimilarity, .registration = TRUE, .fixes = "C_"
#' @importClassesFrom Matrix dgCMatrix
#' @importFrom methods as coerce
"_PACKAGE"

#' Options of all functions
#'
#' Functions that compute accept these in `...`; one that a function does not have is an error, which
#' lists those that it has.
#'
#' @section Where it runs:
#' * `backend`: "automatic" (a usable GPU, else the CPU), "cpu" or "cuda", which never falls back.
#' * `devices`: numbers of GPUs, from 0 as CUDA counts them; calls over all pairs share the work.
#' * `workspace_bytes`: upper bound on scratch memory, of the host or of each GPU.
#' * `cpu_threads`: threads of the CPU; 0 is the library's choice. Two at most where R CMD check limits the
#'   cores, and one in a process that was forked, as by `parallel::mclapply`.
#' * `progress`: `TRUE` shows a bar on the standard error; `function(stage, done, total)` is called a
#'   few times a second, and ends the run by returning `FALSE`. Ctrl-C ends a run at any time.
#' * `variant`: the implementation; "automatic" chooses.
#'
#' @section All pairs:
#' * `part`: `c(index, of)` computes one of `of` parts, see [merge_parts()], and
#'   [part_cut()] for `adjust = "BH"`.
#' * `min_observations`: with `use = "pairwise.complete.obs"`, pairs that share fewer have no
#'   statistic; at least 3.
#' * `effective_observations`: the sample size behind p, where observations depend on each other, as
#'   in time series.
#' * `p_method`: of "spearman", "automatic", "t" (Student's t alone) or "exact" (permutations, as
#'   `cor.test(exact = TRUE)`).
#' * `fold`: "automatic", "never" or "always": whether variables of equal ranks are computed once. No
#'   result depends on it.
#' * `assay`: which assay of a SummarizedExperiment.
#' * `match`: observations of `x` and `y` go together in order. Where both are named and the names
#'   differ, that is an error, unless `match = "position"` says that the order is right.
#'
#' @section Errors:
#' Errors have the class `gpusimilarity_error` and one of `gpusimilarity_invalid_argument`,
#' `gpusimilarity_unsupported`, `gpusimilarity_backend_unavailable`, `gpusimilarity_out_of_memory`,
#' `gpusimilarity_capacity_exceeded`, `gpusimilarity_cancelled` and `gpusimilarity_cuda_error`.
#'
#' CUDA does not survive a fork: where a process has used it, its forked children refuse it. Use
#' `parallel::makePSOCKcluster` for several processes with GPUs.
#' @name options
#' @examples
#' cor_edges(as.matrix(mtcars), max_p = 1e-6, cpu_threads = 1)
NULL

#' What results can do
#'
#' Results are lists with a class; they keep the names of the variables, and a `summary` of the run:
#' pairs tested and kept, the cut, variables without a statistic, where it ran, the time, and a
#' checksum of the pairs, which adds up over parts.
#'
#' * `print`, `summary` and `plot` of all of them. `plot(edges, type = "degree")` shows how many edges
#'   variables have.
#' * `as.data.frame`: one row for each pair, with names. Of edges, `adjust = "BH"`, "bonferroni" or a
#'   result of [max_t()] adds q, and `confidence = 0.95` the bounds of confidence intervals.
#' * [as_igraph()], and `as(x, "dgCMatrix")`, a sparse matrix of the statistics (both triangles; of
#'   [cor_diff()] of z).
#' * [merge_parts()] of the parts of a job.
#' @name results
#' @aliases coerce,cor_edges,dgCMatrix-method coerce,cor_top,dgCMatrix-method
#'   coerce,cor_diff,dgCMatrix-method
#' @examples
#' edges <- cor_edges(as.matrix(mtcars), min_abs = 0.8)
#' summary(edges)
#' plot(edges)
#' as(edges, "dgCMatrix")[1:3, 1:3]
NULL
