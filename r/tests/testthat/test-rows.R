test_that("ranks are those of rank", {
  for (ties in c("average", "min", "max", "first")) {
    expect_equal(rank_rows(tied, ties = ties), t(apply(tied, 1, rank, ties.method = ties)), ignore_attr = TRUE)
    expect_equal(rank_rows(tied, ties = ties, margin = 2), apply(tied, 2, rank, ties.method = ties))
  }
  expect_equal(rank_rows(t(c(10, 20, 20, 30)), ties = "dense"), t(c(1, 2, 2, 3)))
  expect_equal(rank_rows(c(3, 1, 2), decreasing = TRUE), c(1, 3, 2))
  expect_equal(rank_rows(Matrix::Matrix(pmax(tied, 2) - 2, sparse = TRUE), margin = 2), apply(pmax(tied, 2), 2, rank))
  expect_identical(colnames(rank_rows(plain)), colnames(plain))
  with_hole <- rbind(c(1, NA, 2), 3:1)
  expect_equal(rank_rows(with_hole, use = "everything"), rbind(NA_real_, 3:1), ignore_attr = TRUE)
  expect_failure_of(rank_rows(with_hole), "invalid_argument", "^x: missing value in variable 1, observation 2")
})

test_that("moving means are those of filter", {
  x <- plain[, 1]
  inside <- stats::filter(x, rep(1 / 5, 5))[3:28]
  expect_equal(mean_filter(x, 5, boundary = "valid"), as.vector(inside))
  expect_equal(mean_filter(x, 5)[3:28], as.vector(inside))
  expect_equal(mean_filter(plain, 5)[3:28, 1], as.vector(inside))
  expect_identical(dimnames(mean_filter(plain, 3)), dimnames(plain))
  expect_equal(mean_filter(t(plain), 3, margin = 1), t(mean_filter(plain, 3)))
  expect_equal(mean_filter(c(1, NA, 3), 3, boundary = "shrink", na.rm = TRUE), c(1, 2, 3))
  expect_equal(mean_filter(c(1, NA, 3, 4, 5), 3, boundary = "shrink"), c(NA, NA, NA, 4, 4.5))
  expect_equal(mean_filter(1:4, 3, boundary = "wrap"), c((4 + 1 + 2) / 3, 2, 3, (3 + 4 + 1) / 3))
  expect_failure_of(mean_filter(x, 0), "invalid_argument", "window")
})

test_that("the largest values are those of order", {
  found <- top_k(tied, 4)
  for (j in 1:8) {
    expected <- order(-tied[, j])[1:4]
    expect_equal(unname(found$index[, j]), expected)
    expect_equal(unname(found$values[, j]), tied[expected, j])
  }
  expect_equal(top_k(c(5, 1, 4), 2, decreasing = FALSE), list(values = c(1, 4), index = c(2, 3)))
  expect_equal(top_k(c(2L, 2L, 1L), 5, distinct = TRUE), list(values = c(2, 1), index = c(1, 3), counts = c(2, 1)))
  distinct <- top_k(cbind(c(1, 1, 1), c(1, 2, 2)), 3, distinct = TRUE)
  expect_equal(distinct$values, cbind(c(1, NA), c(2, 1)))
  expect_equal(distinct$counts, cbind(c(3, NA), c(2, 1)))
  expect_equal(top_k(t(tied), 2, margin = 1)$values, t(top_k(tied, 2)$values))
  expect_failure_of(top_k(tied, 0), "invalid_argument", "k")
})
