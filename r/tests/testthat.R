library(testthat)
library(gpusimilarity)

test_check("gpusimilarity")
