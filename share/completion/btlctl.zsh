#compdef btlctl
# SPDX-License-Identifier: BSD-3-Clause
# Completion of btlctl in zsh: asks the program (ctl-tool/complete.h), and knows nothing of it.
_btlctl() {
  local -a offered
  local candidate meaning also=
  while IFS=$'\t' read -r candidate meaning; do
    case $candidate in
      :*) also=$candidate ;;
      *) offered+=("${candidate//:/\\:}${meaning:+:$meaning}") ;;
    esac
  done < <("${(Q)words[1]}" __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)
  (( $#offered )) && _describe btlctl offered
  case $also in
    :files) _files ;;
    :directories) _files -/ ;;
    :command) _command_names -e; _files ;;
  esac
}
_btlctl "$@"
