# SPDX-License-Identifier: BSD-3-Clause
# Completion of livebtl-run in bash: its options, as its help has them, then a command line of its own.
_livebtl_run() {
  local i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
    --door | --generate) i=$((i + 1)) ;;
    -*) ;;
    *)
      _command_offset "$i"
      return
      ;;
    esac
  done
  local word=${COMP_WORDS[COMP_CWORD]}
  case ${COMP_WORDS[COMP_CWORD-1]} in
  --door) COMPREPLY=($(compgen -W "auto component provider" -- "$word")) ;;
  *)
    if [[ $word == -* ]]; then
      COMPREPLY=($(compgen -W "$(livebtl-run --help 2>/dev/null | grep -o -e '--[a-z-]*')" -- "$word"))
    else
      COMPREPLY=($(compgen -W "mpirun mpiexec srun" -- "$word"))
    fi
    ;;
  esac
}
complete -F _livebtl_run livebtl-run
