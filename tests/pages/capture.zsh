# SPDX-License-Identifier: BSD-3-Clause
# tests/pages/capture.zsh -- prints what zsh would offer for a line, by completing it in a terminal of its own.
# usage: zsh -f tests/pages/capture.zsh SETUP LINE
zmodload zsh/zpty
setup=$1 line=$2
zpty shell zsh -f -i
# What is typed may be echoed before it is read: so the words that are waited for are never typed as they are printed.
zpty -w shell "PS1= PS2= RPS1= ; stty -echo; unsetopt zle_bracketed_paste; $setup"
zpty -w shell 'null-line() { zle kill-whole-line; print DONE-""WITH-IT; exit }; zle -N null-line; bindkey "^X" null-line'
zpty -w shell 'bindkey "^I" list-choices; print READY-""NOW'
zpty -r -m shell text '*READY-NOW*' || exit 1
zpty -w -n shell "$line"$'\t'
zpty -w -n shell $'\t\x18'
zpty -r -m shell text '*DONE-WITH-IT*'
print -r -- "$text"
