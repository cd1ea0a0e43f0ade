# soft_threshold.R TABLE NETWORK TIMES: the scale-free fits of powers 1 to 20 for the rows of a table, as JSON.
# WGCNA's pickSoftThreshold where the package is installed, and its formula in plain R, each TIMES times.
suppressPackageStartupMessages(has_package <- suppressWarnings(require(WGCNA, quietly = TRUE)))
arguments <- commandArgs(trailingOnly = TRUE)
x <- t(as.matrix(read.delim(arguments[1], row.names = 1)))
network <- arguments[2]
powers <- 1:20

fit_of <- function(k, bins = 10) {
  bin <- cut(k, bins)
  mean_k <- tapply(k, bin, mean)
  p <- as.vector(tapply(k, bin, length)) / length(k)
  edges <- seq(min(k), max(k), length.out = bins + 1)
  middle <- (edges[-1] + edges[-(bins + 1)]) / 2
  mean_k <- ifelse(is.na(mean_k) | mean_k == 0, middle, mean_k)
  p[is.na(p)] <- 0
  x1 <- log10(mean_k)
  y <- log10(p + 1e-9)
  line <- lm(y ~ x1)
  curve <- lm(y ~ x1 + I(10^x1))
  c(summary(line)$r.squared, coef(line)[[2]], summary(curve)$adj.r.squared, mean(k), median(k), max(k))
}

formula_of <- function() {
  r <- stats::cor(x)
  base <- switch(network, "unsigned" = abs(r), "signed" = (1 + r) / 2, "signed hybrid" = pmax(r, 0))
  t(sapply(powers, function(power) c(power, fit_of(rowSums(base^power) - 1))))
}
package_of <- function() {
  suppressWarnings(invisible(capture.output(
    found <- pickSoftThreshold(x, networkType = network, powerVector = powers, verbose = 0))))
  as.matrix(found$fitIndices)
}

timed <- function(what) {
  runs <- replicate(as.integer(arguments[3]), { gc(FALSE); system.time(what())[1:3] })
  list(fits = what(), elapsed = min(runs[3, ]), processor = min(runs[1, ] + runs[2, ]))
}
json_of <- function(name, found) {
  rows <- apply(found$fits, 1, function(row) sprintf("[%s]", paste(sprintf("%.17g", row), collapse = ", ")))
  sprintf('"%s": {"elapsed_seconds": %.4f, "processor_seconds": %.4f, "fits": [%s]}', name, found$elapsed,
          found$processor, paste(rows, collapse = ", "))
}
if (has_package) disableWGCNAThreads() -> ignored
parts <- c(sprintf('"R": "%s"', R.version$version.string), sprintf('"blas": "%s"', extSoftVersion()[["BLAS"]]),
           json_of("formula", timed(formula_of)))
if (has_package) {
  parts <- c(parts, sprintf('"package_version": "%s"', packageVersion("WGCNA")), json_of("package", timed(package_of)))
}
cat("\nJSON {", paste(parts, collapse = ", "), "}\n", sep = "")
