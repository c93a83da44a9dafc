# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# zsh -f manual.zsh FOLDER LINE: what a user gets who writes LINE and presses Tab; _netstall is in FOLDER.
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1=; unsetopt zle_bracketed_paste 2>/dev/null; fpath=($1 \$fpath); autoload -Uz compinit; compinit -D -u"
zpty -w shell "zstyle ':completion:*' list-prompt ''; zstyle ':completion:*' verbose no; LISTMAX=0; setopt no_auto_menu list_packed; bindkey '^I' complete-word; bindkey '^X' list-choices; echo rea''dy"
zpty -r shell line '*ready*' || exit 1
zpty -n -w shell "$2"$'\t'
sleep 0.7
zpty -n -w shell $'\C-xD'
sleep 0.7
while zpty -r -t shell line; do print -r -- "$line"; done
zpty -d shell
