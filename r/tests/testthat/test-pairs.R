test_that("edges are those of base R, with its p", {
  for (method in base_methods) for (x in list(plain, tied)) {
    edges <- cor_edges(x, method = method, max_p = 1)
    at <- pairs_of(8)
    expect_identical(cbind(edges$row, edges$col), unname(at))
    expected <- apply(at, 1, function(pair) stats::cor(x[, pair[1]], x[, pair[2]], method = method))
    expect_equal(edges$statistic, unname(expected), tolerance = 1e-13)
    p <- apply(at, 1, function(pair) p_by_test(x[, pair[1]], x[, pair[2]], method))
    expect_equal(edges$p, unname(p), tolerance = 1e-10)
    expect_equal(edges$summary$pairs_tested, 28)
    for (max_p in c(0.5, 0.05, 0.001)) {
      kept <- cor_edges(x, method = method, max_p = max_p)
      expect_identical(kept$p, edges$p[edges$p <= max_p])
      expect_equal(cor_counts(x, method = method, max_p = max_p)$kept, sum(p <= max_p))
    }
  }
})

test_that("one-sided tests are those of cor.test", {
  for (method in base_methods) for (alternative in c("greater", "less")) {
    edges <- cor_edges(plain, method = method, alternative = alternative)
    p <- mapply(function(i, j) p_by_test(plain[, i], plain[, j], method, alternative), edges$row, edges$col)
    expect_equal(edges$p, p, tolerance = 1e-10)
  }
})

test_that("exact p are those of cor.test", {
  short <- plain[1:8, ]
  edges <- cor_edges(short)
  p <- mapply(function(i, j) stats::cor.test(short[, i], short[, j], method = "spearman")$p.value, edges$row, edges$col)
  expect_equal(edges$p, p, tolerance = 1e-12)
  expect_identical(cor_edges(plain, p_method = "exact")$summary$test, "permutations")
})

test_that("adjustments keep what p.adjust keeps", {
  p <- cor_edges(plain)$p
  for (adjust in c("bonferroni", "BH")) for (max_p in c(0.05, 0.3, 0.9)) {
    edges <- cor_edges(plain, max_p = max_p, adjust = adjust)
    expect_identical(edges$p, p[stats::p.adjust(p, adjust) <= max_p])
  }
  expect_equal(as.data.frame(cor_edges(plain), adjust = "BH")$q, stats::p.adjust(p, "BH"))
  expect_equal(as.data.frame(cor_edges(plain), adjust = "bonferroni")$q, stats::p.adjust(p, "bonferroni"))
  expect_identical(cor_edges(plain, max_p = 0.3, adjust = "fdr")$p, cor_edges(plain, max_p = 0.3, adjust = "bh")$p)
})

test_that("x against y is every variable of x with every one of y", {
  for (method in base_methods) {
    expected <- stats::cor(plain, other, method = method)
    dense <- cor_dense(plain, other, method = method)
    expect_equal(as.matrix(dense), expected, tolerance = 1e-13)
    edges <- cor_edges(plain, other, method = method)
    expect_equal(edges$statistic, as.vector(t(expected)), tolerance = 1e-13)
    expect_identical(as.data.frame(edges)$col, rep(c("u", "v", "w"), 8))
    expect_identical(as.data.frame(edges)$row, rep(colnames(plain), each = 3))
  }
  counts <- cor_counts(plain, other, max_p = 0.2)
  kept <- cor_edges(plain, other, max_p = 0.2)
  expect_identical(unname(counts$degree), as.double(tabulate(kept$row, 8)))
  expect_identical(counts$y_degree, c(u = sum(kept$col == 1), v = sum(kept$col == 2), w = sum(kept$col == 3)) + 0)
})

test_that("best partners are the largest of the matrix", {
  for (method in c(base_methods, "bicor", "cosine")) {
    dense <- as.matrix(cor_dense(plain, method = method))
    diag(dense) <- NA
    for (k in c(1, 3, 9)) {
      top <- cor_top(plain, k = k, method = method)
      expect_identical(dim(top$index), as.integer(c(8, k)))
      most <- min(k, 7)
      expected <- t(apply(dense, 1, function(row) order(-abs(row), seq_along(row))[seq_len(most)]))
      expect_equal(unname(top$index[, seq_len(most), drop = FALSE]), unname(matrix(expected, 8)))
      expect_identical(top$count, rep(most + 0, 8))
    }
    if (method != "cosine") {
      edges <- cor_edges(plain, method = method)
      top <- cor_top(plain, k = 7, method = method)
      of_pair <- function(i, j) edges$p[edges$row == min(i, j) & edges$col == max(i, j)]
      expected <- matrix(mapply(of_pair, row(top$index), top$index), 8)
      expect_identical(top$p, expected)
    }
  }
  up <- cor_top(plain, k = 1, order = "by-value")
  dense <- as.matrix(cor_dense(plain)) - diag(2, 8)
  expect_equal(as.vector(up$index), unname(max.col(dense, "first")))
  with_q <- cor_top(plain, k = 7, adjust = "BH", q = TRUE)
  q <- stats::p.adjust(cor_edges(plain)$p, "BH")
  expect_equal(sort(as.vector(with_q$q)), sort(rep(q, 2)))
})

test_that("p of partners are those of edges, with missing values and ties too", {
  for (method in base_methods) for (x in list(holes, tied)) {
    edges <- cor_edges(x, method = method, use = "pairwise.complete.obs")
    top <- cor_top(x, k = 7, method = method, use = "pairwise.complete.obs")
    of_pair <- function(i, j) edges$p[edges$row == min(i, j) & edges$col == max(i, j)]
    expect_equal(top$p, matrix(mapply(of_pair, row(top$index), top$index), 8), tolerance = 1e-14)
  }
  short <- cor_top(tied[1:9, ], k = 7)
  edges <- cor_edges(tied[1:9, ])
  expect_identical(short$p[1, ], edges$p[match(short$index[1, ], edges$col[edges$row == 1])])
})

test_that("counts, bins and degrees follow from the edges", {
  edges <- cor_edges(plain, max_p = 0.4)
  counts <- cor_counts(plain, max_p = 0.4, bins = 20)
  expect_equal(counts$kept, length(edges$row))
  expect_equal(counts$degree, stats::setNames(tabulate(c(edges$row, edges$col), 8) + 0, colnames(plain)))
  expect_equal(counts$histogram, graphics::hist(edges$statistic, counts$breaks, plot = FALSE, right = FALSE)$counts)
  expect_length(counts$breaks, 21)
  expect_type(counts$kept, "double")
})

test_that("missing values are as base R has them", {
  for (method in base_methods) {
    dense <- cor_dense(holes, method = method, use = "pairwise.complete.obs")
    expect_equal(as.matrix(dense), stats::cor(holes, method = method, use = "pairwise.complete.obs"), tolerance = 1e-12)
    dense <- cor_dense(holes, method = method, use = "complete.obs")
    expect_equal(as.matrix(dense), stats::cor(holes, method = method, use = "complete.obs"), tolerance = 1e-12)
    everything <- as.matrix(cor_dense(holes, method = method, use = "everything"))
    expected <- stats::cor(holes, method = method, use = "everything")
    off <- upper.tri(expected)
    expect_equal(everything[off], expected[off], tolerance = 1e-12)
    edges <- cor_edges(holes, method = method, use = "pairwise.complete.obs")
    p <- mapply(function(i, j) {
      both <- stats::complete.cases(holes[, c(i, j)])
      p_by_test(holes[both, i], holes[both, j], method)
    }, edges$row, edges$col)
    expect_equal(edges$p, p, tolerance = 1e-9)
  }
  there <- !is.na(holes)
  expect_equal(cor_observations(holes), crossprod(there))
  expect_equal(cor_observations(holes, other), crossprod(there, matrix(1, 30, 3, dimnames = dimnames(other))))
  none <- cor_edges(holes, use = "pairwise.complete.obs", min_observations = 30)
  expect_identical(none$summary$pairs_tested, sum(crossprod(there)[upper.tri(diag(8))] == 30) + 0)
  whole <- matrix(1:24, 8)
  whole[5, 2] <- NA
  expect_equal(as.matrix(cor_dense(whole, use = "pairwise")), stats::cor(whole, use = "pairwise", method = "spearman"))
  expect_failure_of(cor_edges(whole), "invalid_argument", "missing value in variable 2, observation 5 ")
  expect_failure_of(cor_edges(holes), "invalid_argument", "missing value in variable \"g")
  expect_failure_of(cor_edges(plain, cbind(a = c(NA, 1:29))), "invalid_argument", "^y: missing value in variable \"a\", observation 1 ")
})

test_that("partial correlations are those of residuals", {
  covariates <- cbind(rnorm(30), rnorm(30))
  residuals <- stats::residuals(stats::lm(plain ~ covariates))
  expect_equal(as.matrix(cor_dense(plain, method = "pearson", covariates = covariates)), stats::cor(residuals), tolerance = 1e-10)
  ranks <- apply(plain, 2, rank)
  residuals <- stats::residuals(stats::lm(ranks ~ apply(covariates, 2, rank)))
  dense <- as.matrix(cor_dense(plain, covariates = covariates))
  expect_equal(unname(dense), unname(stats::cor(residuals)), tolerance = 1e-10)
  edges <- cor_edges(plain, covariates = covariates[, 1], method = "pearson")
  expect_equal(edges$summary$observations, 29)
  expect_equal(edges$p[1], 2 * stats::pt(-abs(edges$statistic[1] * sqrt(27 / (1 - edges$statistic[1]^2))), 27))
  expect_failure_of(cor_edges(plain, covariates = factor(rep(1:2, 15))), "invalid_argument", "^covariates: ")
  expect_failure_of(cor_edges(plain, covariates = 1:29), "invalid_argument", "covariates")
})

test_that("weighted correlations are those of cov.wt", {
  weights <- runif(30)
  expected <- stats::cov.wt(plain, weights, cor = TRUE)$cor
  expect_equal(as.matrix(cor_dense(plain, method = "pearson", weights = weights)), expected, tolerance = 1e-12)
  expect_true(all(is.na(cor_edges(plain, method = "pearson", weights = weights)$p)))
  whole <- cor_edges(plain, method = "pearson", weights = weights, effective_observations = 20)
  expect_equal(whole$summary$observations, 20)
  expect_failure_of(cor_edges(plain, weights = "a"), "invalid_argument", "^weights: ")
  expect_failure_of(cor_edges(plain, method = "pearson", weights = 1:3), "invalid_argument", "weights")
  expect_failure_of(cor_edges(plain, weights = weights), "unsupported", "weights")
})

test_that("cosine and biweight midcorrelation are their formulas", {
  cosine <- crossprod(plain) / sqrt(outer(colSums(plain^2), colSums(plain^2)))
  expect_equal(as.matrix(cor_dense(plain, method = "cosine")), cosine, tolerance = 1e-12)
  expect_true(all(is.na(cor_edges(plain, method = "cosine")$p)))
  biweight <- apply(plain, 2, function(x) {
    u <- (x - stats::median(x)) / (9 * stats::mad(x, constant = 1))
    out <- (x - stats::median(x)) * (1 - u^2)^2 * (abs(u) < 1)
    out / sqrt(sum(out^2))
  })
  expect_equal(as.matrix(cor_dense(plain, method = "bicor")), crossprod(biweight), tolerance = 1e-12)
})

test_that("a stream gives the edges in batches", {
  edges <- as.data.frame(cor_edges(plain, max_p = 0.5))
  batches <- list()
  summary <- cor_stream(plain, f = function(batch) batches[[length(batches) + 1]] <<- batch, max_p = 0.5, batch_edges = 4)
  joined <- do.call(rbind, batches)
  expect_true(all(vapply(batches, nrow, 0L) <= 4))
  expect_s3_class(batches[[1]], "data.frame")
  expect_identical(joined$statistic, edges$rho)
  expect_identical(colnames(plain)[joined$row], edges$row)
  expect_identical(summary$pairs_kept, nrow(edges) + 0)
  expect_identical(summary$checksum, cor_edges(plain, max_p = 0.5)$summary$checksum)
  seen <- 0
  expect_null(cor_stream(plain, f = function(batch) { seen <<- seen + 1; FALSE }, batch_edges = 4))
  expect_identical(seen, 1)
  expect_error(cor_stream(plain, f = function(batch) stop("mine")), "mine")
  for (ending in c(".csv", ".tsv", ".csv.gz", ".tsv.gz")) {
    file <- withr_file(ending)
    cor_stream(plain, file = file, max_p = 0.5, batch_edges = 4)
    read <- if (grepl("csv", ending)) utils::read.csv(file) else utils::read.delim(file)
    expect_equal(read, edges, tolerance = 1e-14)
  }
  expect_failure_of(cor_stream(plain, file = "edges.xls"), "invalid_argument", "^file: ")
  expect_failure_of(cor_stream(plain), "invalid_argument", "^f, file: ")
})

test_that("a plan says how many edges to expect", {
  plan <- plan_cor(plain, max_p = 0.05)
  expect_equal(plan$pairs, 28)
  expect_identical(plan$backend, "cpu")
  expect_output(print(plan), "Plan: 28 pairs, spearman")
  expect_equal(as.data.frame(plan)$pairs, 28)
})

test_that("more edges than a list holds are refused with a way out", {
  old <- options(gpusimilarity.most_edges = 10)
  on.exit(options(old))
  expect_failure_of(cor_edges(plain), "capacity_exceeded", "28 edges: a list of R holds at most 10; use cor_stream")
  expect_failure_of(tanimoto(plain > 0), "capacity_exceeded", "cor_stream")
  expect_length(cor_edges(plain, max_p = 0.01)$row, sum(cor_edges(plain, max_p = 0.01)$p <= 0.01))
  error <- tryCatch(cor_edges(plain, max_edges = 5), error = identity)
  expect_s3_class(error, "gpusimilarity_capacity_exceeded")
  expect_identical(error$needed, 28)
})

test_that("counts beyond 2^31 are doubles", {
  run <- list(pairs_kept = 3e9, pairs_tested = 7e9, variables = 2e5, min_abs_effective = 0.5)
  counts <- structure(class = "cor_counts", list(summary = run, method = "pearson", degree = c(3e9, 1)))
  expect_output(print(counts), "3,000,000,000 of 7,000,000,000 pairs of 200,000 variables, pearson, .r. >= 0.5")
  expect_output(print(counts), "1 \\(3,000,000,000\\)")
})

test_that("variables without a statistic are named", {
  x <- cbind(plain, constant = 1, infinite = c(Inf, plain[-1, 1]))
  run <- cor_edges(x, method = "pearson")$summary
  expect_identical(run$constant, 9L)
  expect_identical(run$infinite, 10L)
  expect_identical(run$pairs_tested, 28)
  expect_output(print(summary(cor_edges(x, method = "pearson"))), "1 variable.s. without a result: constant")
  expect_identical(cor_edges(holes, use = "everything")$summary$missing, unname(which(colSums(is.na(holes)) > 0)))
})

test_that("small and empty tables have answers or clear errors", {
  expect_length(cor_edges(plain[, 1])$row, 0)
  expect_output(print(cor_edges(plain[, 1])), "0 of 0 pairs of 1 variables")
  expect_identical(dim(as.data.frame(cor_edges(plain[, 1]))), c(0L, 4L))
  expect_length(cor_edges(plain[, 0])$row, 0)
  expect_identical(dim(cor_dense(plain[, 1, drop = FALSE])), c(1L, 1L))
  expect_failure_of(cor_edges(plain[1:2, ]), "invalid_argument", "2")
  expect_failure_of(cor_edges(plain, other[1:29, ]), "invalid_argument", "29")
  expect_equal(cor_edges(plain[, 1], plain[, 2])$statistic, stats::cor(plain[, 1], plain[, 2], method = "spearman"))
})

test_that("parts merge into the whole", {
  without_times <- function(result) {
    if (inherits(result, "cor_dense")) return(as.matrix(result))
    result <- unclass(result)
    result$summary[c("prepare_seconds", "pairs_seconds", "seconds")] <- NULL
    result
  }
  calls <- list(
    function(...) cor_edges(plain, max_p = 0.5, adjust = "bonferroni", ...), function(...) cor_edges(plain, other, ...),
    function(...) cor_top(plain, k = 2, ...), function(...) cor_counts(plain, max_p = 0.5, bins = 10, ...),
    function(...) cor_dense(plain, ...), function(...) cor_diff(plain, rep(1:2, 15), ...),
    function(...) cor_diff(plain, rep(1:2, 15), k = 2, ...), function(...) soft_threshold(plain, ...),
    function(...) tanimoto(plain > 0, ...))
  for (call in calls) for (of in c(1, 3)) {
    parts <- lapply(seq_len(of), function(index) call(part = c(index, of)))
    expect_equal(without_times(merge_parts(parts)), without_times(call()), tolerance = 1e-14)
  }
  for (max_p in c(0.05, 0.5)) for (method in base_methods) for (alternative in c("two.sided", "less")) {
    cut <- part_cut(plain, method = method, max_p = max_p, alternative = alternative, parts = 3)
    whole <- cor_edges(plain, method = method, max_p = max_p, alternative = alternative, adjust = "BH")
    expect_identical(cut, whole$summary$max_p_effective)
  }
  expect_identical(part_cut(plain, other, max_p = 0.9, parts = 2), cor_edges(plain, other, max_p = 0.9, adjust = "BH")$summary$max_p_effective)
  parts <- lapply(1:3, function(index) cor_edges(plain, part = c(index, 3)))
  expect_identical(merge_parts(parts)$summary$checksum, cor_edges(plain)$summary$checksum)
  expect_failure_of(merge_parts(parts[c(1, 3)]), "invalid_argument", "^parts: ")
  expect_failure_of(merge_parts(parts[c(1, 2)]), "invalid_argument", "^parts: ")
  expect_failure_of(merge_parts(parts[c(2, 1, 3)]), "invalid_argument", "^parts: ")
  expect_failure_of(merge_parts(list(parts[[1]], 1)), "invalid_argument", "^parts: ")
  expect_failure_of(cor_edges(plain, part = c(0, 3)), "invalid_argument", "^part: ")
  expect_failure_of(cor_edges(plain, part = c(1, 3), max_p = 0.05, adjust = "BH"), "unsupported", "part")
})
