test_that("connectivity and fits are their formulas", {
  r <- stats::cor(plain)
  adjacency <- list(unsigned = function(p) abs(r)^p, signed = function(p) ((1 + r) / 2)^p, `signed hybrid` = function(p) pmax(r, 0)^p)
  for (network in names(adjacency)) {
    found <- soft_threshold(plain, powers = c(1, 2.5, 6), network = network, method = "pearson")
    for (power in c(1, 2.5, 6)) {
      expect_equal(found$connectivity[, as.character(power)], rowSums(adjacency[[network]](power)) - 1, tolerance = 1e-12)
    }
    expect_equal(found$fits$mean, unname(colMeans(found$connectivity)))
    expect_equal(found$fits$median, unname(apply(found$connectivity, 2, stats::median)))
  }
  expect_identical(rownames(found$connectivity), colnames(plain))
  expect_failure_of(soft_threshold(plain, powers = 0), "invalid_argument", "powers")
  expect_failure_of(soft_threshold(plain, network = "odd"), "invalid_argument", "^network: ")
})

test_that("the topological overlap is its formula", {
  r <- stats::cor(plain)
  for (network in c("unsigned", "signed")) {
    a <- if (network == "unsigned") abs(r)^3 else ((1 + r) / 2)^3
    diag(a) <- 0
    k <- rowSums(a)
    expected <- (a %*% a + a) / (outer(k, k, pmin) + 1 - a)
    diag(expected) <- 1
    expect_equal(tom(r, power = 3, network = network), expected, tolerance = 1e-12)
    expect_equal(tom(cor_dense(plain, method = "pearson"), power = 3, network = network), expected, tolerance = 1e-12)
  }
  expect_failure_of(tom(plain), "invalid_argument", "^statistic: got 30 x 8")
})

test_that("differences are Fisher's z", {
  group <- rep(c("b", "a", NA), 10)
  for (method in c("pearson", "spearman")) {
    found <- cor_diff(plain, group, method = method)
    expect_identical(found$groups, c("a", "b"))
    a <- stats::cor(plain[which(group == "a"), ], method = method)
    b <- stats::cor(plain[which(group == "b"), ], method = method)
    at <- cbind(found$row, found$col)
    error <- sqrt((if (method == "spearman") 1.06 else 1) * 2 / 7)
    z <- (atanh(a[at]) - atanh(b[at])) / error
    expect_equal(found$first, a[at])
    expect_equal(found$second, b[at])
    expect_equal(found$z, z, tolerance = 1e-12)
    expect_equal(found$p, 2 * stats::pnorm(-abs(z)), tolerance = 1e-12)
    expect_equal(as.data.frame(found, adjust = "BH")$q, stats::p.adjust(found$p, "BH"))
    expect_equal(cor_diff(plain, group, method = method, alternative = "greater")$p, stats::pnorm(-z), tolerance = 1e-12)
    top <- cor_diff(plain, group, method = method, k = 1)
    largest <- vapply(1:8, function(i) max(abs(z)[found$row == i | found$col == i]), 0)
    expect_equal(abs(as.vector(top$z)), largest, tolerance = 1e-12)
  }
  expect_identical(names(as.data.frame(found)), c("row", "col", "a", "b", "z", "p"))
  expect_equal(cor_diff(plain, group == "a")$z, -cor_diff(plain, ifelse(group == "a", 1, 2))$z)
  expect_failure_of(cor_diff(plain, 1:30), "invalid_argument", "^group: ")
  expect_failure_of(cor_diff(plain, c(1, 2)), "invalid_argument", "^group: ")
  expect_failure_of(cor_diff(plain, rep(1:2, 15), method = "kendall"), "unsupported", "kendall")
})

test_that("max-T is the share of shuffled tables", {
  null <- max_t(plain, permutations = 99)
  expect_length(null$maxima, 99)
  expect_false(is.unsorted(rev(null$maxima)))
  statistic <- c(0, 0.3, 0.6, 0.9)
  expected <- vapply(statistic, function(s) (1 + sum(null$maxima >= s)) / 100, 0)
  expect_equal(max_t_p(null, statistic), expected)
  cut <- max_t_cut(null, 0.1)
  expect_lte(max_t_p(null, cut), 0.1)
  expect_gt(max_t_p(null, cut - 1e-6), 0.1)
  edges <- cor_edges(plain)
  expect_equal(as.data.frame(edges, adjust = null)$q, max_t_p(null, edges$statistic))
  expect_true(any(max_t(plain, permutations = 99, seed = 1)$maxima != null$maxima))
  expect_true(all(max_t(plain, other, permutations = 19)$maxima <= 1))
  expect_failure_of(max_t_cut(null, 1e-6), "invalid_argument", "level")
  expect_failure_of(max_t(plain, permutations = 0), "invalid_argument", "permutations")
  # Of x against y, the shuffled tables are those of exchangeable observations: their maxima are like base R's.
  set.seed(9)
  by_hand <- replicate(400, max(abs(stats::cor(plain[sample(30), ], other, method = "spearman"))))
  mine <- max_t(plain, other, permutations = 400)$maxima
  expect_gt(suppressWarnings(stats::ks.test(by_hand, mine)$p.value), 1e-4)
})

test_that("Tanimoto similarities are those of sets", {
  bits <- plain > 0.3
  common <- crossprod(bits)
  expected <- common / (outer(colSums(bits), colSums(bits), `+`) - common)
  dense <- tanimoto(bits, result = "dense")
  expect_equal(as.matrix(dense), expected)
  edges <- tanimoto(bits, min_abs = 0.3)
  at <- pairs_of(8)
  kept <- at[expected[at] >= 0.3, , drop = FALSE]
  expect_identical(cbind(edges$row, edges$col), unname(kept))
  expect_equal(edges$statistic, unname(expected[kept]))
  for (form in list(bits + 0L, bits + 0, Matrix::Matrix(bits, sparse = TRUE), as.data.frame(bits))) {
    expect_identical(tanimoto(form, min_abs = 0.3)$statistic, edges$statistic)
  }
  expect_identical(tanimoto(t(bits), min_abs = 0.3, margin = 1)$statistic, edges$statistic)
  top <- tanimoto(bits, result = "top", k = 2)
  expect_equal(top$statistic[, 1], unname(apply(expected - diag(2, 8), 1, max)))
  expect_equal(tanimoto(bits, result = "counts", min_abs = 0.3)$kept, nrow(kept))
  expect_equal(as.matrix(tanimoto(bits, bits[, 1:2], result = "dense")), expected[, 1:2])
  sizes <- outer(colSums(bits), colSums(bits), `+`)
  expect_equal(as.matrix(tanimoto(bits, result = "dense", method = "dice")), 2 * common / sizes)
  tversky <- tanimoto(bits, result = "dense", method = "tversky", alpha = 0.3, beta = 0.3)
  expect_equal(as.matrix(tversky), common / (common + 0.3 * (sizes - 2 * common)))
  expect_failure_of(tanimoto(bits, method = "tversky", alpha = 2), "invalid_argument", "no order")
  expect_failure_of(tanimoto(plain), "invalid_argument", "^x: got another value than 0 or 1 in variable 1, observation 1")
  bits[2, 3] <- NA
  expect_failure_of(tanimoto(bits), "invalid_argument", "^x: ")
})
