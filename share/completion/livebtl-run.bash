# SPDX-License-Identifier: BSD-3-Clause
# Completion of livebtl-run in bash: its options, as the program says, then a command line of its own.
_livebtl_run() {
  local i word=${COMP_WORDS[COMP_CWORD]} candidate _
  COMPREPLY=()
  while IFS=$'\t' read -r candidate _; do
    if [[ $candidate != :command ]]; then
      COMPREPLY+=("$candidate")
      continue
    fi
    for ((i = 1; i < COMP_CWORD; i++)); do
      case ${COMP_WORDS[i]} in
      --door) i=$((i + 1)) ;;
      -*) ;;
      *) break ;;
      esac
    done
    # bash-completion has it; without it only names of commands and files are offered.
    if ((i < COMP_CWORD)) && declare -F _command_offset >/dev/null; then
      _command_offset "$i"
    else
      mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -c -f -- "$word")
    fi
  done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _livebtl_run livebtl-run
