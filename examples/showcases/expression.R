# Writes the table of the Debian package r-bioc-all (Chiaretti et al. 2004: 12,625 probe sets of 128 patients
# with acute lymphoblastic leukaemia), and what is known of the patients, into the current folder.
suppressMessages({library(Biobase); library(ALL)})
data(ALL)
write.table(exprs(ALL), "expression.tsv", sep = "\t", quote = FALSE, col.names = NA)
write.table(pData(ALL)[, c("sex", "BT")], "patients.tsv", sep = "\t", quote = FALSE, col.names = NA)

# What people use today, on the same machine: all correlations, then those above the cut.
x <- t(exprs(ALL))
seconds <- system.time({
  rho <- cor(x, method = "spearman")
  kept <- sum(rho[upper.tri(rho)] >= 0.75)
})[["elapsed"]]
cat(sprintf('{"seconds": %.3f, "kept": %d}\n', seconds, kept), file = "r_cor.json")
