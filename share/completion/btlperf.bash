# SPDX-License-Identifier: BSD-3-Clause
# Completion of btlperf in bash: asks the program (perf/complete.h), and knows nothing of it.
_btlperf() {
  local line=${COMP_LINE:0:COMP_POINT} words word kept candidate _
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  word=${words[-1]}
  # bash takes ':' and '=' for ends of words, and completes what is behind the last of them.
  kept=${word%"${word##*[:=]}"}
  COMPREPLY=()
  while IFS=$'\t' read -r candidate _; do
    case $candidate in
    :files)
      compopt -o filenames
      mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "${word##*=}")
      ;;
    :directories)
      compopt -o filenames
      mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- "${word##*=}")
      ;;
    :command) mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -c -f -- "$word") ;;
    *)
      [[ $candidate == *= ]] && compopt -o nospace
      # A transport's name may hold ';', which is to be quoted.
      COMPREPLY+=("$(printf %q "${candidate#"$kept"}")")
      ;;
    esac
  done < <("${words[0]}" __complete "${words[@]:1}" 2>/dev/null)
}
complete -F _btlperf btlperf
