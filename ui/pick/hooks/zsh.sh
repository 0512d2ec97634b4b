# Tandem's history on ctrl+r. In ~/.zshrc:  eval "$(tandem init zsh)"
# Enter runs the command, tab puts it on the line, esc leaves the line as it was.

if [[ -o interactive ]]; then
	__tandem_history() {
		emulate -L zsh
		local line
		local -i code
		zle -I
		line=$(command tandem history pick -- "$BUFFER" </dev/tty)
		code=$?
		zle reset-prompt
		(( code == 0 || code == 10 )) || return 0
		BUFFER=$line
		CURSOR=$#BUFFER
		(( code == 10 )) || zle accept-line
	}

	zle -N __tandem_history
	bindkey -M emacs '^R' __tandem_history
	bindkey -M viins '^R' __tandem_history
	bindkey -M vicmd '^R' __tandem_history
fi
