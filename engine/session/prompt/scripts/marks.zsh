# Marks around prompts and commands for zsh. They are set up at the first
# prompt, when all of the person's own files have been read. None of it shows in a
# trace, which a function switches off for itself; a DEBUG trap runs until it is
# switched off, too.

typeset -ga precmd_functions periodic_functions
precmd_functions+=(__tandem_begin)

# Functions added later may still make the prompt anew. zsh runs periodic_functions after all of
# precmd_functions, if PERIOD is set and has passed.
periodic_functions+=(__tandem_settle)
if (( ! ${+PERIOD} )); then
	typeset -gi PERIOD=-1
fi

__tandem_begin() {
	{ unsetopt xtrace } 2>/dev/null
	emulate -L zsh
	trap - DEBUG
	# Commands may export the prompts, and prompts may write PROMPT_EOL_MARK to a file, so
	# their marks have only a part of the nonce.
	local part=${__tandem_nonce[1,8]}
	typeset -g __tandem_a=$'%{\e]133;A;aid='$part$'\a%}'
	typeset -g __tandem_b=$'%{\e]133;B;aid='$part$'\a%}'
	typeset -g __tandem_s=$'%{\e]133;P;k=s;aid='$part$'\a%}'
	typeset -g __tandem_e=$'%{\e]133;P;k=e;aid='$part$'\a%}'
	if (( ${+TANDEM_SHELL_PROMPT} )); then
		PS1=$TANDEM_SHELL_PROMPT
		unset TANDEM_SHELL_PROMPT
	fi
	precmd_functions=(${precmd_functions:#__tandem_begin})
	typeset -ga preexec_functions
	if (( ${+PROMPT_EOL_MARK} )); then
		PROMPT_EOL_MARK=$__tandem_e$PROMPT_EOL_MARK
	else
		PROMPT_EOL_MARK=$__tandem_e'%B%S%#%s%b'
	fi
	__tandem_folder
	__tandem_last
	unfunction __tandem_begin
}

__tandem_settle() {
	{ unsetopt xtrace } 2>/dev/null
	emulate -L zsh
	trap - DEBUG
	periodic_functions=(${periodic_functions:#__tandem_settle})
	if [[ ${PERIOD-} == -1 ]]; then
		unset PERIOD
	fi
	__tandem_last
	unfunction __tandem_settle
}

__tandem_first() {
	{ local -i code=$?; unsetopt xtrace } 2>/dev/null
	emulate -L zsh
	trap - DEBUG
	builtin printf '\e]133;D;%s;aid=%s\a' $code $__tandem_nonce
	__tandem_folder
	return code
}

__tandem_folder() {
	{ unsetopt xtrace } 2>/dev/null
	emulate -L zsh
	setopt no_multibyte
	local url='' c
	local -i i
	if [[ $PWD == *[^A-Za-z0-9/._~-]* ]]; then
		for ((i = 1; i <= ${#PWD}; i++)); do
			c=$PWD[i]
			if [[ $c == [A-Za-z0-9/._~-] ]]; then
				url+=$c
			else
				builtin printf -v c '%%%02X' $(( #c & 255 ))
				url+=$c
			fi
		done
	else
		url=$PWD
	fi
	builtin printf '\e]7;file://%s%s\a' "$HOST" "$url"
}

# __tandem_order moves the hooks before and after the user's own, wherever an
# assignment left them.
__tandem_order() {
	{ unsetopt xtrace } 2>/dev/null
	emulate -L zsh
	if [[ $precmd_functions[1] != __tandem_first || $precmd_functions[-1] != __tandem_last ]]; then
		precmd_functions=(__tandem_first ${precmd_functions:#__tandem_(first|last)} __tandem_last)
	fi
	if (( ! ${preexec_functions[(I)__tandem_preexec]} )); then
		preexec_functions+=(__tandem_preexec)
	fi
}

# __tandem_last puts the marks around the prompts, which the person's own
# functions may have made anew.
__tandem_last() {
	{ unsetopt xtrace } 2>/dev/null
	emulate -L zsh
	trap - DEBUG
	__tandem_order
	PS1=${PS1//$__tandem_a/}
	PS1=$__tandem_a${PS1//$__tandem_b/}$__tandem_b
	PS2=${PS2//$__tandem_s/}$__tandem_s
}

__tandem_preexec() {
	{ unsetopt xtrace } 2>/dev/null
	emulate -L zsh
	trap - DEBUG
	__tandem_order
	setopt no_multibyte
	local line=${1[1,8192]} out='' c
	local -i i
	if [[ $line == *[[:cntrl:]\\\;]* ]]; then
		for ((i = 1; i <= ${#line}; i++)); do
			c=$line[i]
			if [[ $c == [[:cntrl:]\\\;] ]]; then
				builtin printf -v c '\\x%02x' $(( #c & 255 ))
			fi
			out+=$c
		done
		line=$out
	fi
	builtin printf '\e]633;E;%s;%s\a\e]133;C;aid=%s\a' "$line" $__tandem_nonce $__tandem_nonce
}
