# What Tandem has an interactive bash read: the person's own files as bash
# would read them, and then marks around prompts and commands.
#
# Nothing of it shows in a trace (set -x), nor runs a DEBUG trap, once the shell
# is at its prompt. PROMPT_COMMAND has loops without a round: bash traces no part of these,
# but carries out what is in the words to loop over. With set -v bash itself
# prints PROMPT_COMMAND at each prompt. The word that makes marks ours is in no
# variable but __tandem_nonce, which is not traced either.

__tandem_traced=$-
{ set +xv; } 2>/dev/null
__tandem_nonce=${TANDEM_SHELL_NONCE-}

# __tandem_own has a file of the person's traced as the shell was told to.
__tandem_own() {
	if [[ $__tandem_traced == *v* ]]; then set -v; fi
	if [[ $__tandem_traced == *x* ]]; then set -x; fi
}

# __tandem_first reports the exit status of the last command, and the folder. It runs
# before the user's own PROMPT_COMMAND, which sees the same exit status. If
# another hook ran first, the status may be that hook's and is not reported.
__tandem_first() {
	local code=$? known=''
	set +x
	if [[ ${PROMPT_COMMAND-} == "$__tandem_begin"* ]]; then known=";$code"; fi
	builtin printf '\e]133;D%s;aid=%s\a' "$known" "$__tandem_nonce"
	__tandem_folder
	return "$code"
}

__tandem_folder() {
	local LC_ALL=C path=$PWD url='' c
	if [[ $path == *[!A-Za-z0-9/._~-]* ]]; then
		local i
		for ((i = 0; i < ${#path}; i++)); do
			c=${path:i:1}
			case $c in
			[A-Za-z0-9/._~-]) url+=$c ;;
			*)
				builtin printf -v c '%d' "'$c"
				builtin printf -v c '%%%02X' "$((c & 255))"
				url+=$c
				;;
			esac
		done
	else
		url=$path
	fi
	builtin printf '\e]7;file://%s%s\a' "${HOSTNAME-}" "$url"
}

# __tandem_last puts the marks around the prompts, which the person's own
# PROMPT_COMMAND may have made anew.
__tandem_last() {
	local __tandem_traced=$-
	set +x
	PS1=${PS1-}
	PS1=${PS1//"$__tandem_a"/}
	PS1=$__tandem_a${PS1//"$__tandem_b"/}$__tandem_b
	PS2=${PS2-}
	PS2=${PS2//"$__tandem_s"/}$__tandem_s
	if [[ -n $__tandem_c ]]; then
		PS0=${PS0-}
		PS0=${PS0//"$__tandem_c"/}$__tandem_c
	fi
	__tandem_order
	__tandem_marked=(["x${PS1-}${PS2-}${PS0-}${PROMPT_COMMAND[*]-}"]='')
	__tandem_own
}

# __tandem_order moves the hooks before and after the user's own PROMPT_COMMAND,
# wherever an assignment left them.
__tandem_order() {
	local c hook own=()
	for c in ${PROMPT_COMMAND[@]+"${PROMPT_COMMAND[@]}"}; do
		for hook in "$__tandem_begin" "$__tandem_end"; do
			c=${c//"$hook"[$'\n;']/}
			c=${c//[$'\n;']"$hook"/}
			if [[ $c == "$hook" ]]; then c=''; fi
			c=${c//"$hook"/:}
		done
		if [[ -n $c ]]; then own+=("$c"); fi
	done
	if ((BASH_VERSINFO[0] > 5 || BASH_VERSINFO[0] == 5 && BASH_VERSINFO[1] >= 1)); then
		PROMPT_COMMAND=("$__tandem_begin" ${own[@]+"${own[@]}"} "$__tandem_end")
	else
		PROMPT_COMMAND=$__tandem_begin$'\n'${own:+$own$'\n'}$__tandem_end
	fi
}

# __tandem_line tells the newest line of the history and its number, from which
# Tandem knows whether it is the command that begins.
__tandem_line() {
	set +x
	local LC_ALL=C HISTTIMEFORMAT='' line number i c out=''
	line=$(builtin history 1 2>/dev/null)
	line=${line:0:8192}
	[[ $line =~ ^[[:space:]]*([0-9]+)[*[:space:]][[:space:]] ]] || return 0
	number=${BASH_REMATCH[1]}
	line=${line:${#BASH_REMATCH[0]}}
	if [[ $line == *[[:cntrl:]\\\;]* ]]; then
		line=${line//\\/\\\\}
		line=${line//;/\\x3b}
		line=${line//$'\n'/\\x0a}
		line=${line//$'\t'/\\x09}
		if [[ $line == *[[:cntrl:]]* ]]; then
			for ((i = 0; i < ${#line}; i++)); do
				c=${line:i:1}
				[[ $c == [[:cntrl:]] ]] && builtin printf -v c '\\x%02x' "'$c"
				out+=$c
			done
			line=$out
		fi
	fi
	builtin printf '\e]633;E;%s;%s;n=%s\a' "$line" "$__tandem_nonce" "$number"
}

__tandem_install() {
	__tandem_traced=$-
	set +xv
	local nonce=$__tandem_nonce
	# By its name, the word stays out of the trace of a command that changes PS1.
	shopt -q promptvars && nonce='$__tandem_nonce'
	__tandem_a="\\[\\e]133;A;aid=$nonce\\a\\]"
	__tandem_b="\\[\\e]133;B;aid=$nonce\\a\\]"
	__tandem_s="\\[\\e]133;P;k=s;aid=$nonce\\a\\]"
	__tandem_c=''
	if ((BASH_VERSINFO[0] > 4 || BASH_VERSINFO[0] == 4 && BASH_VERSINFO[1] >= 4)); then
		__tandem_c="\\e]133;C;aid=$nonce\\a"
		shopt -q promptvars && __tandem_c="\$({ __tandem_line \$((BASH_XTRACEFD=2)); } 2>/dev/null)$__tandem_c"
	else
		__tandem_a="\\[\\e]133;A;c=0;aid=$nonce\\a\\]"
	fi
	# In a shell started here that inherits an exported prompt, such as dash, the marks are nothing.
	if shopt -q promptvars; then
		__tandem_a="\${__tandem_nonce:+$__tandem_a}"
		__tandem_b="\${__tandem_nonce:+$__tandem_b}"
		__tandem_s="\${__tandem_nonce:+$__tandem_s}"
	fi
	if [[ -n ${TANDEM_SHELL_PROMPT+set} ]]; then
		PS1=$TANDEM_SHELL_PROMPT
		unset TANDEM_SHELL_PROMPT
	fi
	declare -gA __tandem_marked=()
	__tandem_end='{ for __tandem_none in ${__tandem_marked["x${PS1-}${PS2-}${PS0-}${PROMPT_COMMAND[*]-}"]-again}; do __tandem_last; done; } 2>/dev/null'
	if ((BASH_VERSINFO[0] > 5 || BASH_VERSINFO[0] == 5 && BASH_VERSINFO[1] >= 1)); then
		__tandem_begin='{ for __tandem_none in $(__tandem_first $((BASH_XTRACEFD=2)) >&3); do :; done; } 3>&1 2>/dev/null'
	else # a subshell has a status for the person's own, and a loop would not
		__tandem_begin='( __tandem_first ) 2>/dev/null'
	fi
	__tandem_order
	unset -f __tandem_install
	__tandem_own
}

if [[ -n ${TANDEM_SHELL_LOGIN-} ]]; then
	if [[ -z ${TANDEM_SHELL_NOPROFILE-} ]]; then
		if [[ -r /etc/profile ]]; then
			{ __tandem_own; } 2>/dev/null
			. /etc/profile
			{ __tandem_traced=$-; set +xv; } 2>/dev/null
		fi
		for __tandem_file in ~/.bash_profile ~/.bash_login ~/.profile; do
			if [[ -r $__tandem_file ]]; then
				{ __tandem_own; } 2>/dev/null
				. "$__tandem_file"
				{ __tandem_traced=$-; set +xv; } 2>/dev/null
				break
			fi
		done
	fi
elif [[ -z ${TANDEM_SHELL_NORC-} ]]; then
	__tandem_file=${TANDEM_SHELL_RC:-$HOME/.bashrc}
	if [[ -r $__tandem_file ]]; then
		{ __tandem_own; } 2>/dev/null
		. "$__tandem_file"
		{ __tandem_traced=$-; set +xv; } 2>/dev/null
	fi
fi
{
	unset __tandem_file TANDEM_SHELL_LOGIN TANDEM_SHELL_NOPROFILE TANDEM_SHELL_NORC TANDEM_SHELL_RC TANDEM_SHELL_NONCE
	__tandem_own
	if [[ -n $__tandem_nonce ]]; then __tandem_install; fi
} 2>/dev/null
