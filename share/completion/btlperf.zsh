#compdef btlperf
# SPDX-License-Identifier: BSD-3-Clause
# Completion of btlperf in zsh: asks the program (perf/complete.h), and knows nothing of it.
_btlperf() {
  local -a offered
  local candidate meaning also=
  while IFS=$'\t' read -r candidate meaning; do
    case $candidate in
      :*) also=$candidate ;;
      *) offered+=("${candidate//:/\\:}${meaning:+:$meaning}") ;;
    esac
  done < <("${(Q)words[1]}" __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)
  (( $#offered )) && _describe btlperf offered
  case $also in
    :files) _files ;;
    :directories) _files -/ ;;
    :command) _command_names -e; _files ;;
  esac
}
_btlperf "$@"
