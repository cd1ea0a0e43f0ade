test_that("cor is stats::cor", {
  trouble <- cbind(1, 1:6, c(2, 5, 1, 4, 3, 8), c(NA, 1, 2, 3, 1, 5), c(NA, NA, NA, NA, 1, 2), c(NA, 2, 3, Inf, 4, 5))
  for (method in base_methods) {
    for (x in list(plain, tied, holes, trouble, as.data.frame(tied))) for (use in c("everything", "pairwise.complete.obs")) {
      expected <- suppressWarnings(stats::cor(x, use = use, method = method))
      expect_equal(suppressWarnings(gpusimilarity::cor(x, use = use, method = method)), expected, tolerance = 1e-12)
    }
    expect_equal(gpusimilarity::cor(holes, use = "complete.obs", method = method), stats::cor(holes, use = "complete.obs", method = method), tolerance = 1e-12)
    expect_equal(gpusimilarity::cor(holes, other, use = "pairwise", method = method), stats::cor(holes, other, use = "pairwise", method = method), tolerance = 1e-12)
    expect_equal(gpusimilarity::cor(plain[, 1], plain[, 2], method = method), stats::cor(plain[, 1], plain[, 2], method = method), tolerance = 1e-12)
    expect_equal(gpusimilarity::cor(plain[, 1], other, method = method), stats::cor(plain[, 1], other, method = method), tolerance = 1e-12)
    expect_equal(gpusimilarity::cor(plain[1:2, ], method = method), stats::cor(plain[1:2, ], method = method))
  }
  expect_warning(gpusimilarity::cor(cbind(1, 1:5)), "standard deviation is zero")
  expect_warning(gpusimilarity::cor(cbind(c(1, 1, 1, NA), 1:4), use = "pairwise"), "standard deviation is zero")
  expect_silent(gpusimilarity::cor(holes, use = "everything"))
  expect_silent(gpusimilarity::cor(holes, use = "pairwise"))
  expect_failure_of(gpusimilarity::cor(1:5), "invalid_argument", "^y: ")
  expect_failure_of(gpusimilarity::cor(holes, use = "all.obs"), "invalid_argument", "^x: missing value")
  expect_identical(class(gpusimilarity::cor(plain)), c("matrix", "array"))
})

test_that("rcorr is Hmisc's", {
  skip_if_not_installed("Hmisc")
  for (type in c("pearson", "spearman")) for (x in list(plain, tied, holes)) {
    expected <- Hmisc::rcorr(x, type = type)
    found <- rcorr(x, type = type)
    expect_equal(found$r, expected$r, tolerance = 1e-6, ignore_attr = TRUE)
    expect_equal(found$n, expected$n, ignore_attr = TRUE)
    expect_equal(found$P, expected$P, tolerance = 1e-5, ignore_attr = TRUE)
    expect_identical(dimnames(found$P), dimnames(expected$P))
  }
  both <- rcorr(plain, other)
  expect_equal(both$r, Hmisc::rcorr(plain, other)$r, tolerance = 1e-6, ignore_attr = TRUE)
  expect_output(print(both), "n=30")
  expect_output(print(rcorr(holes)), "P")
  expect_failure_of(rcorr(plain[1:4, ]), "invalid_argument", "at least 5")
  expect_failure_of(rcorr(plain[, 1]), "invalid_argument", "one variable")
})

test_that("bicor, corAndPvalue and pickSoftThreshold are WGCNA's", {
  skip_if_not_installed("WGCNA")
  expect_equal(bicor(plain), WGCNA::bicor(plain), tolerance = 1e-10)
  expect_equal(bicor(plain, other), WGCNA::bicor(plain, other), tolerance = 1e-10)
  expect_equal(bicor(holes, use = "pairwise.complete.obs"), WGCNA::bicor(holes, use = "pairwise.complete.obs"), tolerance = 1e-10)
  expect_equal(gpusimilarity::cor(holes, use = "pairwise"), WGCNA::cor(holes, use = "pairwise.complete.obs"), tolerance = 1e-10)
  for (alternative in c("two.sided", "less", "greater")) {
    expected <- WGCNA::corAndPvalue(holes, alternative = alternative)
    found <- corAndPvalue(holes, alternative = alternative)
    off <- upper.tri(found$cor)
    for (part in c("cor", "p", "Z", "t", "nObs")) expect_equal(found[[part]][off], expected[[part]][off], tolerance = 1e-8, info = part)
  }
  expect_equal(corAndPvalue(plain, other)$p, WGCNA::corAndPvalue(plain, other)$p, tolerance = 1e-8)
  set.seed(7)
  many <- matrix(rnorm(40 * 150), 40) + rnorm(40) %o% (1:150 / 100)
  colnames(many) <- paste0("g", 1:150)
  for (network in c("unsigned", "signed", "signed hybrid")) {
    sink(tempfile())
    expected <- suppressWarnings(WGCNA::pickSoftThreshold(many, networkType = network, verbose = 0))
    sink()
    found <- pickSoftThreshold(many, networkType = network)
    expect_equal(found$fitIndices, expected$fitIndices, tolerance = 1e-6, ignore_attr = TRUE)
    expect_equal(names(found$fitIndices), names(expected$fitIndices))
    expect_equal(found$powerEstimate, expected$powerEstimate)
  }
  expect_equal(tom(stats::cor(many), power = 4), WGCNA::TOMsimilarity(abs(stats::cor(many))^4, verbose = 0), tolerance = 1e-6, ignore_attr = TRUE)
  expect_failure_of(bicor(plain, maxPOutliers = 0.1), "unsupported", "^maxPOutliers: ")
})
