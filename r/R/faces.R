# Functions with the arguments and results of stats, Hmisc and WGCNA.

# The dense result as those functions give it: a plain matrix, a number of two vectors.
plain_cor <- function(dense, x, y) {
  if (is.null(dim(x)) && is.null(dim(y))) drop(as.matrix(dense)) else as.matrix(dense)
}

#' Correlations with the arguments of other packages
#'
#' `cor` is as `stats::cor`, on all cores, with the same results. `bicor` and `corAndPvalue` are as
#' WGCNA's, `pickSoftThreshold` gives its tables, and `rcorr` is as Hmisc's. Observations go together in
#' order, whatever their names.
#'
#' `cor` masks `stats::cor`. Where p values are not needed for every pair, [cor_edges()] needs no matrix
#' of variables x variables.
#'
#' @param x,y numeric matrices or data frames of observations x variables, or vectors.
#' @param use,method,type,alternative as of the function that is replaced.
#' @param ... see [options].
#' @return What the function that is replaced gives: `cor` and `bicor` a matrix, or a number of two
#'   vectors; `rcorr` a list of class `rcorr` with `r`, `n` and `P`; `corAndPvalue` a list with `cor`,
#'   `p`, `Z`, `t` and `nObs`; `pickSoftThreshold` a list with `powerEstimate` and `fitIndices`.
#' @name faces
#' @examples
#' cor(mtcars$mpg, mtcars$wt, method = "spearman")
#' cor(airquality[, 1:4], use = "pairwise.complete.obs")
#' rcorr(as.matrix(mtcars[, 1:3]))
#' corAndPvalue(mtcars[, 1:3])$p
#' @export
cor <- function(x, y = NULL, use = "everything", method = c("pearson", "kendall", "spearman"), ...) {
  method <- match.arg(method)
  use <- use_of(use)
  if (is.data.frame(x)) x <- matrix_of_frame(x, "x")
  if (is.data.frame(y)) y <- matrix_of_frame(y, "y")
  if (is.null(dim(x)) && is.null(y)) refuse("y", "expected a second vector, or a matrix as x")
  if (NROW(x) < 3) return(stats::cor(x, y, use, method))
  dense <- cor_dense(x, y, method = method, use = use, match = "position", ...)
  out <- as.matrix(dense)
  if (use != "pairwise.complete.obs") {
    run <- attr(dense, "summary")
    is_constant <- length(run$constant) || length(run$y_constant)
    if (is.null(y)) diag(out) <- 1
  } else {
    shared <- if (may_share_few(x, y)) cor_observations(x, y)
    # Two observations have a correlation of -1 or 1 in stats::cor.
    for (at in which(shared == 2)) {
      of_x <- as.matrix(x)[, row(out)[at]]
      of_y <- as.matrix(if (is.null(y)) x else y)[, col(out)[at]]
      out[at] <- stats::cor(of_x, of_y, use, method)
    }
    is_constant <- anyNA(if (is.null(shared)) out else out[shared > 1])
  }
  if (is_constant) warning("the standard deviation is zero", call. = FALSE)
  plain_cor(out, x, y)
}

# Whether two variables may share fewer than three observations.
may_share_few <- function(x, y) {
  there <- function(z) sort(colSums(!is.na(as.matrix(z))))
  of_x <- there(x)
  of_x[1] + (if (is.null(y)) of_x else there(y))[1] - NROW(x) < 3
}

#' @rdname faces
#' @param robustX,robustY,maxPOutliers,pearsonFallback only the defaults are offered; anything else is
#'   an error of class `gpusimilarity_unsupported`.
#' @export
bicor <- function(x, y = NULL, robustX = TRUE, robustY = TRUE, use = "all.obs", maxPOutliers = 1,
                  pearsonFallback = "individual", ...) {
  offered <- c(robustX = isTRUE(robustX), robustY = isTRUE(robustY), maxPOutliers = maxPOutliers == 1,
               pearsonFallback = identical(pearsonFallback, "individual"))
  if (!all(offered)) {
    fail("unsupported", paste0(names(offered)[!offered][1], ": only the default is offered"))
  }
  plain_cor(cor_dense(x, y, method = "bicor", use = use, match = "position", ...), x, y)
}

#' @rdname faces
#' @export
rcorr <- function(x, y = NULL, type = c("pearson", "spearman"), ...) {
  type <- match.arg(type)
  x <- as.matrix(x)
  if (!is.null(y)) x <- cbind(x, y)
  if (nrow(x) < 5) refuse("x", "got ", nrow(x), " observations, expected at least 5")
  if (ncol(x) < 2) refuse("x", "got one variable, expected two or more")
  found <- dense_and_counts(x, NULL, type, "pairwise.complete.obs", ...)
  P <- p_of(found$r, found$n, "two.sided")
  diag(P) <- NA
  structure(list(r = found$r, n = found$n, P = P, type = type), class = c("gpu_rcorr", "rcorr"))
}

#' @export
print.gpu_rcorr <- function(x, ...) {
  print(round(x$r, 2))
  same <- length(unique(as.vector(x$n))) == 1
  cat("\nn=", if (same) x$n[1], "\n", sep = "")
  if (!same) print(x$n)
  cat("\nP\n")
  print(round(x$P, 4))
  invisible(x)
}

# The correlations, and the observations behind each.
dense_and_counts <- function(x, y, method, use, ...) {
  r <- as.matrix(cor_dense(x, y, method = method, use = use, match = "position", ...))
  n <- if (anyNA(x) || anyNA(y)) cor_observations(x, y) else r * 0 + NROW(x)
  dimnames(n) <- dimnames(r)
  n[is.na(n)] <- NROW(x)
  list(r = r, n = n)
}

p_of <- function(r, n, alternative) {
  p <- answer_of(.Call(C_p_values, as.double(r), as.double(n), alternative))
  array(p, dim(r), dimnames(r))
}

#' @rdname faces
#' @export
corAndPvalue <- function(x, y = NULL, use = "pairwise.complete.obs",
                         alternative = c("two.sided", "less", "greater"), method = "pearson", ...) {
  alternative <- match.arg(alternative)
  found <- dense_and_counts(as.matrix(x), if (!is.null(y)) as.matrix(y), method, use, ...)
  degrees <- pmax(found$n - 2, 0)
  list(cor = found$r, p = p_of(found$r, found$n, alternative),
       Z = 0.5 * log((1 + found$r) / (1 - found$r)) * sqrt(degrees),
       t = sqrt(degrees) * (if (alternative == "two.sided") abs else identity)(found$r) /
         sqrt(1 - found$r^2), nObs = found$n)
}

#' @rdname faces
#' @param data observations x variables.
#' @param RsquaredCut,powerVector,removeFirst,nBreaks,networkType as WGCNA has them.
#' @param verbose whether the table is printed.
#' @export
pickSoftThreshold <- function(data, RsquaredCut = 0.85, powerVector = c(1:10, seq(12, 20, 2)),
                              removeFirst = FALSE, nBreaks = 10,
                              networkType = c("unsigned", "signed", "signed hybrid"),
                              method = "pearson", verbose = 0, ...) {
  found <- soft_threshold(data, sort(powerVector), match.arg(networkType), method, nBreaks,
                          RsquaredCut, removeFirst, ...)
  fits <- found$fits
  table <- data.frame(Power = fits$power, SFT.R.sq = fits$r_squared, slope = fits$slope,
                      truncated.R.sq = fits$truncated_r_squared, mean.k. = fits$mean,
                      median.k. = fits$median, max.k. = fits$max)
  if (verbose > 0) print(table)
  list(powerEstimate = found$power, fitIndices = table)
}
