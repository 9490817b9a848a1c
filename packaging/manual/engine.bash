# Splits what is typed so far into `words`, as the shell would; `quoted` is the quote that is open.
__@P@_split() {
  local line=${COMP_LINE:0:COMP_POINT} word= begun= i c
  words=() quoted=
  for ((i = 0; i < ${#line}; i++)); do
    c=${line:i:1}
    if [[ $quoted == "'" && $c != "'" ]]; then
      word+=$c
    elif [[ $c == \\ && $quoted != "'" ]]; then
      ((++i))
      word+=${line:i:1} begun=1
    elif [[ -n $quoted && $c == "$quoted" ]]; then
      quoted=
    elif [[ -z $quoted && ($c == "'" || $c == '"') ]]; then
      quoted=$c begun=1
    elif [[ -z $quoted && $c == [[:blank:]] ]]; then
      [[ -n $begun ]] && words+=("$word")
      word= begun=
    else
      word+=$c begun=1
    fi
  done
  words+=("$word")
}

# Prints what may stand for a kind, one a line. Kinds that are lists of words begin with '='.
__@P@_offer() {
  local key
  case "$1" in
    =*) tr ' ' '\n' <<<"${1#=}" ;;
    files | results) compgen -f -- "$word" ;;
    folders) compgen -d -- "$word" ;;
    yaml) compgen -d -S / -- "$word"; compgen -G "$word*.y*ml" ;;
    switches) command eddyctl "${folder[@]}" list 2>/dev/null ;;
    ports) command eddyctl "${named[@]}" --json show ports 2>/dev/null | grep -o '"port": *"[^"]*"' | cut -d'"' -f4 ;;
    leaves) command eddyctl "${named[@]}" --json show paths 2>/dev/null | grep -o '"leaf": *[0-9]*' | grep -o '[0-9]*$' | sort -nu ;;
    experiments) command eddylab list --names 2>/dev/null; compgen -d -S / -- "$word"; compgen -G "$word*.y*ml" ;;
    variants) [[ -n $operand ]] && command eddylab list "$operand" 2>/dev/null ;;
    fabrics) compgen -d -- /run/eddy/lab/ | sed 's,.*/,,' ;;
    settings)
      key=${word%%=*}
      if [[ $word == *=* ]]; then
        __@P@_words_of "$key" | tr ' ' '\n' | sed "s|^|$key=|"
      else
        __@P@_keys | sed 's/$/=/'
      fi
      ;;
  esac
}

# Takes what begins as the word does. The shell sees the part after the last '=' or ':' only, unless a quote is open.
__@P@_take() {
  local offered prefix= whole=$before$word breaks=${COMP_WORDBREAKS//[^=:]/}
  if [[ -n $quoted ]]; then
    prefix=$before
  elif [[ -n $breaks ]]; then
    prefix=${whole%"${whole##*[$breaks]}"}
  fi
  while IFS= read -r offered; do
    [[ -n $offered && $offered == "$word"* ]] || continue
    [[ $offered == *= || $offered == */ ]] && compopt -o nospace 2>/dev/null
    offered=$before$offered
    offered=${offered#"$prefix"}
    [[ -z $quoted ]] && printf -v offered %q "$offered"
    COMPREPLY+=("$offered")
  done
}

_@P@() {
  local -a words named=() folder=()
  local quoted word command= operand= operands=0 REPLY= i before= said= subcommands="@SUBCOMMANDS@"
  COMPREPLY=()
  __@P@_split
  word=${words[-1]}
  for ((i = 1; i < ${#words[@]} - 1; i++)); do
    case "${words[i]}" in
      --) return ;;
      -*=*) ;;
      -*)
        __@P@_value "$command ${words[i]}"
        if [[ -n $REPLY ]]; then
          ((++i))
          case "${words[i - 1]}" in --name | --socket | --dir) named+=("${words[i - 1]}" "${words[i]-}") ;; esac
          case "${words[i - 1]}" in --dir) folder=(--dir "${words[i]-}") ;; esac
        fi
        ;;
      *)
        if [[ -z $command && -n $subcommands ]]; then
          command=${words[i]}
        else
          operand=${operand:-${words[i]}}
          said+=${said:+ }${words[i]}
          ((++operands))
        fi
        ;;
    esac
  done
  if ((i >= ${#words[@]})); then  # the value of the option before
    __@P@_value "$command ${words[-2]}"
  elif [[ $word == --*=* ]]; then
    __@P@_value "$command ${word%%=*}"
    before=${word%%=*}= word=${word#*=}
  elif [[ $word == -* ]]; then
    __@P@_options "$command"
  elif [[ -z $command && -n $subcommands ]]; then
    REPLY="=$subcommands"
  else
    __@P@_operand "$command" "$operands" "$said"
  fi
  case "$REPLY" in files | folders | results) [[ -z $before ]] && compopt -o filenames 2>/dev/null ;; esac
  __@P@_take < <(__@P@_offer "$REPLY")
}
complete -F _@P@ @P@
