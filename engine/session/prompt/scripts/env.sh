# What Tandem has a POSIX shell read as its ENV: the person's own file, and then
# marks around the prompt. Such a shell cannot tell where a command begins.

__tandem_nonce=${TANDEM_SHELL_NONCE-}
unset TANDEM_SHELL_NONCE ENV
if [ -n "${TANDEM_SHELL_ENV-}" ]; then
	ENV=$TANDEM_SHELL_ENV
	export ENV
fi
unset TANDEM_SHELL_ENV
if [ -n "${ENV-}" ] && [ -r "$ENV" ]; then
	. "$ENV"
fi
if [ -n "$__tandem_nonce" ]; then
	__tandem_esc=$(printf '\033')
	__tandem_bel=$(printf '\007')
	PS1="${__tandem_esc}]133;D;\$?;aid=$__tandem_nonce$__tandem_bel${__tandem_esc}]7;file://\$PWD$__tandem_bel${__tandem_esc}]133;A;c=0;aid=$__tandem_nonce$__tandem_bel${PS1-\$ }${__tandem_esc}]133;B;aid=$__tandem_nonce$__tandem_bel"
	PS2="${PS2-> }${__tandem_esc}]133;P;k=s;aid=$__tandem_nonce$__tandem_bel"
	unset __tandem_esc __tandem_bel
fi
unset __tandem_nonce
