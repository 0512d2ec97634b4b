# Tandem's history on ctrl+r. In ~/.bashrc:  eval "$(tandem init bash)"
# Enter runs the command, tab puts it on the line, esc leaves the line as it was.

if [[ $- == *i* ]] && ((BASH_VERSINFO[0] > 4 || BASH_VERSINFO[0] == 4 && BASH_VERSINFO[1] >= 3)); then
	__tandem_history() {
		local line code
		line=$(command tandem history pick -- "$READLINE_LINE")
		code=$?
		# What follows in the macro of ctrl+r: nothing, or the end of the line.
		__tandem_bind '"\C-x\C-t2": ""'
		((code == 0 || code == 10)) || return 0
		READLINE_LINE=$line
		READLINE_POINT=${#line}
		((code == 10)) || __tandem_bind '"\C-x\C-t2": accept-line'
	}

	__tandem_bind() {
		local keymap
		for keymap in emacs-standard vi-insert vi-command; do
			bind -m "$keymap" "$@"
		done
	}

	__tandem_bind -x '"\C-x\C-t1": __tandem_history'
	__tandem_bind '"\C-x\C-t2": ""'
	__tandem_bind '"\C-r": "\C-x\C-t1\C-x\C-t2"'
fi
