# SPDX-License-Identifier: BSD-3-Clause
# docs/man/tidy.awk -- takes scdoc's output, and leaves out paragraphs that are empty, which `mandoc -T lint` complains of.
# A paragraph that ends an indented block begins behind it, and '-' is a minus sign, so that options can be copied; but not
# in the distance before the bullet of a list (\h'-04'), which roff would not understand.
function put(line) {
  if (wanted && line !~ /^\.(SH|SS)/ && last !~ /^\.(TH|SH|SS|RS)/) print ".P"
  wanted = 0
  last = line
  print line
}
/^\.\\"/ { next }
# ".P" of scdoc 1.11.2, ".PP" of later ones.
/^\.PP?$/ { wanted = 1; next }
/^\.RE$/ { later = wanted; wanted = 0; put($0); wanted = later; next }
/^\.(nh|ad|ie|el)/ { print; next }
!/^(\.|\\h)/ { gsub(/-/, "\\-") }
{ put($0) }
