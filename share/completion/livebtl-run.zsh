#compdef livebtl-run
# SPDX-License-Identifier: BSD-3-Clause
# Completion of livebtl-run in zsh: its options, as the program says, then a command line of its own.
_livebtl_run() {
  local -a offered
  local candidate meaning also=
  local -i i
  while IFS=$'\t' read -r candidate meaning; do
    case $candidate in
      :*) also=$candidate ;;
      *) offered+=("${candidate//:/\\:}${meaning:+:$meaning}") ;;
    esac
  done < <("${(Q)words[1]}" __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)
  (( $#offered )) && _describe livebtl-run offered
  [[ $also == :command ]] || return 0
  for ((i = 2; i < CURRENT; i++)); do
    case $words[i] in
      --door) ((i++)) ;;
      -*) ;;
      *) break ;;
    esac
  done
  shift $((i - 1)) words
  ((CURRENT -= i - 1))
  _normal
}
_livebtl_run "$@"
