# complete.zsh FOLDER LINE...: types each line and the key Tab into an interactive zsh that has the completions of FOLDER,
# and prints what the line became, in brackets.
zmodload zsh/zpty
folder=$1
shift
zpty shell "zsh -f -i"
zpty -w shell "PS1=; fpath=($folder \$fpath); autoload -Uz compinit; compinit -D -u
  report() { print -r -- \"\$BUFFER\" > $folder/line.new; mv $folder/line.new $folder/line; BUFFER=; zle accept-line }
  zle -N report; bindkey '^X' report; unsetopt automenu beep; print rea''dy"
zpty -r shell answer '*ready*'
for line in "$@"; do
  rm -f $folder/line
  zpty -w -n shell "$line"$'\t'
  zpty -w -n shell $'\x18'
  for i in {1..100}; do
    [[ -e $folder/line ]] && break
    sleep 0.1
  done
  print -r -- "[$(<$folder/line)]"
done
zpty -d shell
