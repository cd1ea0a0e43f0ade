# Tables that every kind of trouble is in, and answers of base R alone.

set.seed(20)

# 30 x 8 with names; y has other variables of the same observations.
plain <- matrix(rnorm(240), 30, 8, dimnames = list(NULL, paste0("g", 1:8)))
plain[, 2] <- plain[, 1] + 0.5 * plain[, 2]
other <- matrix(rnorm(90), 30, 3, dimnames = list(NULL, c("u", "v", "w")))
tied <- matrix(as.double(sample(0:4, 240, TRUE)), 30, 8, dimnames = dimnames(plain))
holes <- plain
holes[cbind(sample(30, 25, TRUE), sample(8, 25, TRUE))] <- NA

base_methods <- c("pearson", "spearman", "kendall")

# p by cor.test, whose exact p is asked for only where the library has it.
p_by_test <- function(x, y, method, alternative = "two.sided") {
  t <- stats::cor(x, y, method = method, use = "complete.obs")
  n <- sum(!is.na(x) & !is.na(y))
  if (method == "kendall") {
    ties <- function(v) { counts <- table(v); c(sum(counts * (counts - 1)), sum(counts * (counts - 1) * (counts - 2)), sum(counts * (counts - 1) * (2 * counts + 5))) }
    exact <- !anyDuplicated(x) && !anyDuplicated(y) && n <= 33
    if (exact) return(stats::cor.test(x, y, method = "kendall", exact = TRUE, alternative = alternative)$p.value)
    a <- ties(x)
    b <- ties(y)
    total <- n * (n - 1)
    s <- t * sqrt((total - a[1]) / 2 * (total - b[1]) / 2)
    variance <- (total * (2 * n + 5) - a[3] - b[3]) / 18 + a[2] * b[2] / (9 * total * (n - 2)) +
      a[1] * b[1] / (2 * total)
    z <- s / sqrt(variance)
    return(switch(alternative, two.sided = 2 * stats::pnorm(-abs(z)), greater = stats::pnorm(-z), less = stats::pnorm(z)))
  }
  statistic <- t * sqrt((n - 2) / (1 - t^2))
  switch(alternative, two.sided = 2 * stats::pt(-abs(statistic), n - 2),
         greater = stats::pt(-statistic, n - 2), less = stats::pt(statistic, n - 2))
}

# Every pair i < j of the columns of x, by base R: statistics in the order of rows, then columns.
pairs_of <- function(p) {
  at <- which(upper.tri(matrix(0, p, p)), arr.ind = TRUE)
  at[order(at[, 1], at[, 2]), , drop = FALSE]
}

expect_failure_of <- function(expression, kind, words) {
  error <- tryCatch(expression, error = identity)
  expect_s3_class(error, paste0("gpusimilarity_", kind))
  expect_s3_class(error, "gpusimilarity_error")
  expect_match(conditionMessage(error), words)
}

# A name of a file that is removed with the session.
withr_file <- function(ending) tempfile(fileext = ending)

# p of Pearson's r of every pair, with 1 on the diagonal.
cor_dense_p <- function(x) {
  p <- outer(seq_len(ncol(x)), seq_len(ncol(x)), Vectorize(function(i, j) if (i == j) 1 else stats::cor.test(x[, i], x[, j])$p.value))
  dimnames(p) <- list(colnames(x), colnames(x))
  p
}
