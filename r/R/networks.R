#' Soft thresholds of a weighted co-expression network
#'
#' The connectivity of every variable at many powers in one pass over all pairs, and how well each
#' power fits a scale-free network.
#'
#' @inheritParams cor_edges
#' @param powers powers of the adjacency, above 0 and at most 100.
#' @param network "unsigned": |r|^power; "signed": ((1 + r) / 2)^power; "signed hybrid": r^power where
#'   r > 0, else 0.
#' @param bins,without_first_bin bins of the connectivity for the fit; whether the lowest is left out.
#' @param r_squared_cut the signed R^2 that a power has to exceed.
#' @return An object of class `soft_threshold`: the first `power` above the cut, or `NA`; the table
#'   `fits`; the `connectivity`, variables x powers. Its plot has the two usual panels.
#' @seealso [pickSoftThreshold()], with WGCNA's arguments; [tom()].
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(40 * 60), 40) + rnorm(40)
#' soft_threshold(x, powers = c(2, 4, 6))
#' @export
soft_threshold <- function(x, powers = c(1:10, seq(12, 20, 2)), network = "unsigned",
                           method = "spearman", bins = 10, r_squared_cut = 0.85,
                           without_first_bin = FALSE, use = "all.obs", margin = 2, ...) {
  fit <- c("bins", "r_squared_cut", "without_first_bin")
  options <- arguments()
  call <- pair_call(x, NULL, options[setdiff(names(options), fit)])
  call$options$powers <- numbers_of(powers, "powers")
  found <- answer_of(.Call(C_connectivity, call$x, call$options), call)
  connectivity <- found$connectivity
  rows <- found$summary$part_begin:found$summary$part_end
  dimnames(connectivity) <- list(call$names[rows], powers)
  soft_threshold_result(connectivity, powers, network, options[fit], found$summary, call)
}

soft_threshold_result <- function(connectivity, powers, network, fit, summary, call) {
  fits <- answer_of(.Call(C_scale_free_fit, connectivity, c(list(powers = as.double(powers)), fit)))
  table <- as.data.frame(fits$fits)
  names(table) <- c("power", "r_squared", "slope", "signed_r_squared", "truncated_r_squared",
                    "mean", "median", "max")
  pair_result("soft_threshold", list(
    power = fits$power, fits = table, connectivity = connectivity, network = network, fit = fit,
    summary = summary), call)
}

#' The topological overlap of a module
#'
#' @param statistic a square matrix of correlations, as [cor_dense()] or `stats::cor` gives it.
#' @param power,network as of [soft_threshold()].
#' @param ... `backend`, `devices`, `workspace_bytes`, `cpu_threads` and `progress` of [options].
#' @return The overlap, a matrix of numbers from 0 to 1.
#' @examples
#' tom(cor_dense(as.matrix(mtcars)), power = 4)[1:3, 1:3]
#' @export
tom <- function(statistic, power = 6, network = "unsigned", ...) {
  plain <- plain_matrix(statistic, "statistic", 2)$x
  if (is_sparse(plain)) plain <- as.matrix(plain)
  if (nrow(plain) != ncol(plain)) {
    refuse("statistic", "got ", nrow(plain), " x ", ncol(plain), ", expected a square matrix of ",
           "correlations, as cor_dense() gives it")
  }
  names <- dimnames(plain)
  storage.mode(plain) <- "double"
  out <- answer_of(.Call(C_topological_overlap, plain, arguments("statistic")))
  dimnames(out) <- names
  out
}

#' Pairs whose correlation differs between two groups of observations
#'
#' @inheritParams cor_edges
#' @param group a factor, or a vector of two kinds, of the observations; `NA` leaves one out. Each
#'   group needs four observations.
#' @param method "spearman" or "pearson".
#' @param min_abs_z keep pairs whose difference is at least so many standard errors.
#' @param alternative "greater": a larger correlation in the first level of `group`.
#' @param k the best partners of each variable instead of a list of pairs.
#' @return An object of class `cor_diff`: `row`, `col`, the statistics `first` and `second` of the two
#'   groups, `z` and `p`; with `k` of class `cor_diff_top`.
#' @examples
#' cor_diff(as.matrix(mtcars[, 1:7]), mtcars$am, max_p = 0.05)
#' @export
cor_diff <- function(x, group, method = "spearman", max_p = 1, alternative = "two.sided",
                     adjust = "none", k = NULL, use = "all.obs", margin = 2, ..., min_abs_z = 0,
                     max_edges = Inf) {
  call <- pair_call(x, NULL, arguments(c("x", "group")))
  group <- factor(group)
  if (nlevels(group) != 2 || length(group) != call$x$observations) {
    refuse("group", "got ", length(group), " values of ", nlevels(group), " kinds, expected two ",
           "kinds for ", call$x$observations, " observations (NA leaves one out)")
  }
  call$options$first <- which(group == levels(group)[1])
  call$options$second <- which(group == levels(group)[2])
  run <- function(most) {
    call$options$max_edges <- most
    answer_of(.Call(C_differential, call$x, call$options), call)
  }
  found <- if (is.null(k)) with_most_edges(max_edges, run) else run(Inf)
  found$groups <- levels(group)
  pair_result(if (is.null(k)) "cor_diff" else "cor_diff_top", found, call)
}

#' The family-wise error by permutation (max-T)
#'
#' Observations are shuffled many times, and each time the largest statistic of all pairs is noted. No
#' distribution is assumed, and variables that move together cost less than with Bonferroni's
#' correction.
#'
#' @inheritParams cor_edges
#' @param permutations shuffled tables.
#' @param seed which permutations these are: the same seed gives the same answer, and R's own random
#'   numbers are left alone.
#' @param shuffle "permutation", or "circular" for observations that follow each other in time.
#' @return An object of class `max_t`: the `maxima`, descending. `as.data.frame(edges, adjust = null)`
#'   gives each edge its adjusted p.
#' @examples
#' x <- as.matrix(mtcars)
#' null <- max_t(x, permutations = 199)
#' null
#' cor_edges(x, min_abs = max_t_cut(null, 0.05))
#' @export
max_t <- function(x, y = NULL, method = "spearman", permutations = 1000, seed = 0,
                  alternative = "two.sided", shuffle = "permutation", use = "all.obs", margin = 2,
                  ...) {
  call <- pair_call(x, y, arguments())
  pair_result("max_t", answer_of(.Call(C_max_t, call$x, call$y, call$options), call), call)
}

#' @rdname max_t
#' @param null a result of `max_t`.
#' @param level the family-wise error.
#' @export
max_t_cut <- function(null, level = 0.05) {
  answer_of(.Call(C_max_t_cut, null$maxima, null$alternative, as.double(level)))
}

#' @rdname max_t
#' @param statistic statistics whose adjusted p is wanted.
#' @export
max_t_p <- function(null, statistic) {
  answer_of(.Call(C_max_t_p, null$maxima, null$alternative, as.double(statistic)))
}
