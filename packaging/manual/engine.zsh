__@P@_lines() {
  local -a found
  found=("${(@f)$(command "$@" 2>/dev/null)}")
  compadd -a found
}
# The options named, of those that _arguments has read.
__@P@_named() {
  local option
  reply=()
  for option in "$@"; do
    [[ -n ${opt_args[$option]} ]] && reply+=($option "${(Q)opt_args[$option]//\\:/:}")
  done
}
__@P@_switches() {
  local -a reply
  __@P@_named --dir
  __@P@_lines eddyctl $reply list
}
__@P@_ports() {
  local -a reply found
  __@P@_named --name --socket --dir
  found=(${(f)"$(command eddyctl $reply --json show ports 2>/dev/null | grep -o '"port": *"[^"]*"' | cut -d'"' -f4)"})
  compadd -a found
}
__@P@_leaves() {
  local -a reply found
  __@P@_named --name --socket --dir
  found=(${(f)"$(command eddyctl $reply --json show paths 2>/dev/null | grep -o '"leaf": *[0-9]*' | grep -o '[0-9]*$' | sort -nu)"})
  compadd -a found
}
__@P@_experiments() {
  __@P@_lines eddylab list --names
  _files -g '*.y*ml(-.)'
}
# Of the experiment that stands on the line: the first word that is one.
__@P@_variants() {
  local word
  local -a found
  for word in "${(@)words[2,-1]}"; do
    [[ $word == -* || -z $word ]] && continue
    found=("${(@f)$(command eddylab list "${(Q)word}" 2>/dev/null)}")
    [[ -n $found[1] ]] && compadd -a found && return
  done
}
__@P@_fabrics() {
  local -a found=(/run/eddy/lab/*(N/:t))
  compadd -a found
}
__@P@_settings() {
  if compset -P '*='; then
    __@P@_words_of "${${IPREFIX%=}##*=}"
  else
    compadd -S = -a __@P@_keys
  fi
}
