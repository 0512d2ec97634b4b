# What Tandem has zsh read in a private session: the same as in others, and then, when all of the
# user's own files have been read, no file of its history.

. "${__tandem_script:h}/marks.zsh"

precmd_functions+=(__tandem_private)

__tandem_private() {
	{ unsetopt xtrace } 2>/dev/null
	unset HISTFILE
	SAVEHIST=0
}
