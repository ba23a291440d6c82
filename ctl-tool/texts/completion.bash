# SPDX-License-Identifier: BSD-3-Clause
# Made by: btlctl --generate completion
_btlctl() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
  local w path= words= kind= options="@OPTIONS@"
  for w in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $w" in
    @PATHS@) path+=" $w" ;;
    esac
  done
  case $path in
@CASES@
  esac
  if [[ $before == --job ]]; then
    words=$(btlctl jobs 2>/dev/null | awk 'NR > 1 { print $1 }') kind=
  elif [[ " @WITH_FILE@ " == *" $before "* ]]; then
    kind=FILE words=
  elif [[ $word == -* ]]; then
    words=$options kind=
  elif [[ $kind == HOOK ]]; then
    words="@HOOKS@"
  fi
  if [[ $kind == FILE ]]; then
    COMPREPLY=($(compgen -f -- "$word"))
  elif [[ $kind == TRANSPORT ]]; then
    # A name may hold ':', at which bash ends a word, and ';', which is to be quoted.
    word=${COMP_LINE:0:COMP_POINT} word=${word##* }
    while read -r w; do
      COMPREPLY+=("$(printf %q "${w#"${word%"${word##*:}"}"}")")
    done < <(compgen -W "$(btlctl --timeout 1 list 2>/dev/null | awk 'NR > 1 { print $1 }')" -- "$word")
  else
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  fi
}
complete -F _btlctl btlctl
