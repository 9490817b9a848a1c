# bash completion of eddyctl: source this file.
_eddyctl() {
  local word="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" choices i
  local -a named=()
  for ((i = 1; i < COMP_CWORD - 1; i++)); do
    case "${COMP_WORDS[i]}" in
      --name | --socket | --dir) named+=("${COMP_WORDS[i]}" "${COMP_WORDS[i + 1]}") ;;
    esac
  done
  case "$previous" in
    show) choices="ports queues pgs pfc pfcwd buffers watermarks drops rlb paths flows schemes workers neighbors routes events" ;;
    clear) choices="counters watermarks persistent-watermarks" ;;
    watermarks | persistent-watermarks)
      [[ "${COMP_WORDS[COMP_CWORD-2]}" == clear ]] && choices="pg-shared pg-headroom queue pool headroom-pool"
      ;;
    set) choices="port" ;;
    port | --port)
      choices=$(eddyctl "${named[@]}" --json show ports 2>/dev/null |
        grep -o '"port":"[^"]*"' | cut -d'"' -f4)
      ;;
    tx) choices="on off" ;;
    --name) choices=$(eddyctl "${named[@]}" list 2>/dev/null) ;;
    --ports) choices="fabric all none" ;;
    --dir) mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
    --socket) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
    reload | top | healthy | list | counters) choices="" ;;
    *)
      choices="show clear set reload top healthy list counters --name --dir --socket --ports --json --all --port --leaf --top --watch --markdown"
      [[ "${COMP_WORDS[COMP_CWORD-2]}" == port ]] && choices="tx"
      ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
}
complete -F _eddyctl eddyctl
