test_that("x", expect_equal(1,1))
