# What Tandem has zsh read first. ZDOTDIR is put back before the person's own
# files are read, so that zsh finds all of them itself.

if [[ -n ${TANDEM_ZDOTDIR+x} ]]; then
	export ZDOTDIR=$TANDEM_ZDOTDIR
	unset TANDEM_ZDOTDIR
else
	unset ZDOTDIR
fi
typeset -g __tandem_nonce=${TANDEM_SHELL_NONCE-} __tandem_script=${TANDEM_SHELL_SCRIPT-}
unset TANDEM_SHELL_NONCE TANDEM_SHELL_SCRIPT
{
	if [[ -r ${ZDOTDIR:-$HOME}/.zshenv ]]; then
		. "${ZDOTDIR:-$HOME}/.zshenv"
	fi
} always {
	if [[ -o interactive && -n $__tandem_nonce && -r $__tandem_script ]]; then
		. "$__tandem_script"
	fi
	unset __tandem_script
}
