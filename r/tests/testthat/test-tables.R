test_that("every form of a table gives the same edges", {
  whole <- matrix(sample(0:9, 240, TRUE), 30, 8, dimnames = dimnames(plain))
  expected <- as.data.frame(cor_edges(whole, method = "pearson"))
  sparse <- Matrix::Matrix(whole, sparse = TRUE)
  forms <- list(
    double = whole + 0, frame = as.data.frame(whole), sparse = sparse,
    by_rows = methods::as(sparse, "RsparseMatrix"), triplets = methods::as(sparse, "TsparseMatrix"),
    dense_of_matrix = Matrix::Matrix(whole, sparse = FALSE))
  if (requireNamespace("tibble", quietly = TRUE)) forms$tibble <- tibble::as_tibble(as.data.frame(whole))
  for (form in names(forms)) {
    expect_identical(as.data.frame(cor_edges(forms[[form]], method = "pearson")), expected, info = form)
    expect_equal(as.data.frame(cor_edges(forms[[form]], forms[[form]][, 1:2], method = "pearson"))$r,
                 as.vector(t(stats::cor(whole, whole[, 1:2]))), info = form)
  }
  for (form in c("double", "sparse", "by_rows")) {
    expect_identical(as.data.frame(cor_edges(Matrix::t(forms[[form]]), method = "pearson", margin = 1)), expected)
  }
  expect_identical(as.data.frame(cor_edges(t(whole), method = "pearson", margin = 1)), expected)
  logical <- whole > 4
  expect_equal(as.data.frame(cor_edges(logical, method = "pearson"))$r, as.data.frame(cor_edges(logical + 0, method = "pearson"))$r)
  pattern <- methods::as(Matrix::Matrix(logical, sparse = TRUE), "nMatrix")
  expect_identical(cor_edges(pattern)$statistic, cor_edges(logical)$statistic)
  symmetric <- Matrix::forceSymmetric(sparse[1:8, ])
  expect_equal(as.matrix(cor_dense(symmetric, method = "pearson")), stats::cor(as.matrix(symmetric)), ignore_attr = TRUE)
})

test_that("sparse tables with missing values are as dense ones", {
  whole <- holes
  whole[abs(whole) < 0.7] <- 0
  sparse <- Matrix::Matrix(whole, sparse = TRUE)
  for (use in c("pairwise.complete.obs", "complete.obs", "everything")) {
    expect_identical(cor_edges(sparse, use = use)$statistic, cor_edges(whole, use = use)$statistic)
  }
})

test_that("compact vectors and views are read", {
  compact <- 1:30
  dim(compact) <- c(10, 3)
  expect_equal(as.matrix(cor_dense(compact)), matrix(1, 3, 3))
  expect_equal(cor_edges(1:10, 10:1)$statistic, -1)
})

test_that("SummarizedExperiment and SingleCellExperiment have genes in rows", {
  skip_if_not_installed("SummarizedExperiment")
  genes <- t(plain)
  experiment <- SummarizedExperiment::SummarizedExperiment(list(counts = genes * 2, logged = genes))
  expect_identical(cor_edges(experiment)$statistic, cor_edges(plain)$statistic)
  expect_identical(cor_edges(experiment)$names, colnames(plain))
  expect_identical(cor_edges(experiment, assay = "logged", method = "cosine")$statistic, cor_edges(genes, margin = 1, method = "cosine")$statistic)
  skip_if_not_installed("SingleCellExperiment")
  sparse <- Matrix::Matrix(pmax(genes, 0), sparse = TRUE)
  cells <- SingleCellExperiment::SingleCellExperiment(list(counts = sparse))
  expect_identical(cor_edges(cells)$statistic, cor_edges(t(pmax(genes, 0)))$statistic)
})

test_that("what holds no numbers is refused by its name", {
  frames <- list(
    factor = data.frame(a = 1:5, kind = factor(letters[1:5])), character = data.frame(a = 1:5, kind = letters[1:5]),
    Date = data.frame(a = 1:5, kind = as.Date("2020-01-01") + 1:5), list = data.frame(a = 1:5, kind = I(as.list(1:5))))
  for (frame in frames) {
    for (call in list(cor_edges, cor_top, cor_counts, cor_dense, plan_cor, max_t, soft_threshold, gpusimilarity::cor)) {
      expect_failure_of(call(frame), "invalid_argument", "^x: column \"kind\" is of class")
    }
    expect_failure_of(cor_edges(1:5, frame), "invalid_argument", "^y: column \"kind\" is of class")
  }
  for (x in list(letters, matrix(letters, 13), factor(letters), list(1, 2), NULL, sum, 1i * 1:4, array(0, c(2, 2, 2)))) {
    expect_failure_of(cor_edges(x), "invalid_argument", "^x: ")
  }
})

test_that("observations with other names are not matched in silence", {
  x <- plain
  rownames(x) <- paste0("s", 1:30)
  y <- other
  rownames(y) <- rownames(x)
  expected <- cor_edges(x, y)$statistic
  shuffled <- y[30:1, ]
  expect_failure_of(cor_edges(x, shuffled), "invalid_argument", "^y: its observations have the names of those of x in another order")
  expect_identical(cor_edges(x, shuffled[rownames(x), ])$statistic, expected)
  expect_identical(cor_edges(x, unname(shuffled))$statistic, cor_edges(x, shuffled, match = "position")$statistic)
  rownames(shuffled) <- paste0("t", 1:30)
  expect_failure_of(cor_edges(x, shuffled), "invalid_argument", "other names than")
  expect_equal(gpusimilarity::cor(x, shuffled), stats::cor(x, shuffled))
})

test_that("margin is 1 or 2", {
  for (margin in list(0, 3, "rows", NA, 1:2)) expect_failure_of(cor_edges(plain, margin = margin), "invalid_argument", "^margin: ")
})
