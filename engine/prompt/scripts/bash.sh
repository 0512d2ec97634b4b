# What Tandem has an interactive bash read: the person's own files as bash
# would read them, and then marks around prompts and commands.

if [[ -n ${TANDEM_SHELL_LOGIN-} ]]; then
	if [[ -z ${TANDEM_SHELL_NOPROFILE-} ]]; then
		[[ -r /etc/profile ]] && . /etc/profile
		for __tandem_file in ~/.bash_profile ~/.bash_login ~/.profile; do
			if [[ -r $__tandem_file ]]; then
				. "$__tandem_file"
				break
			fi
		done
	fi
elif [[ -z ${TANDEM_SHELL_NORC-} ]]; then
	__tandem_file=${TANDEM_SHELL_RC:-$HOME/.bashrc}
	[[ -r $__tandem_file ]] && . "$__tandem_file"
fi
__tandem_nonce=${TANDEM_SHELL_NONCE-}
unset __tandem_file TANDEM_SHELL_LOGIN TANDEM_SHELL_NOPROFILE TANDEM_SHELL_NORC TANDEM_SHELL_RC TANDEM_SHELL_NONCE

# __tandem_first tells how the last command ended, and the folder. It runs
# before the person's own PROMPT_COMMAND, which finds the same exit status.
__tandem_first() {
	local code=$?
	if [[ -n ${__tandem_begun-} ]]; then
		builtin printf '\e]133;D;%s;aid=%s\a' "$code" "$__tandem_nonce"
	fi
	__tandem_begun=1
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
	local code=$?
	PS1=${PS1-}
	PS1=${PS1//"$__tandem_a"/}
	PS1=$__tandem_a${PS1//"$__tandem_b"/}$__tandem_b
	PS2=${PS2-}
	PS2=$__tandem_s${PS2//"$__tandem_s"/}
	if [[ -n $__tandem_c ]]; then
		PS0=${PS0-}
		PS0=${PS0//"$__tandem_c"/}$__tandem_c
	fi
	return "$code"
}

# __tandem_line tells the newest line of the history and its number, from which
# Tandem knows whether it is the command that begins.
__tandem_line() {
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
	__tandem_a="\\[\\e]133;A;aid=$__tandem_nonce\\a\\]"
	__tandem_b="\\[\\e]133;B;aid=$__tandem_nonce\\a\\]"
	__tandem_s="\\[\\e]133;P;k=s;aid=$__tandem_nonce\\a\\]"
	__tandem_c=''
	if ((BASH_VERSINFO[0] > 4 || BASH_VERSINFO[0] == 4 && BASH_VERSINFO[1] >= 4)); then
		__tandem_c="\\e]133;C;aid=$__tandem_nonce\\a"
		shopt -q promptvars && __tandem_c="\$(__tandem_line)$__tandem_c"
	else
		__tandem_a="\\[\\e]133;A;c=0;aid=$__tandem_nonce\\a\\]"
	fi
	if [[ $(declare -p PROMPT_COMMAND 2>/dev/null) == 'declare -a'* ]] &&
		((BASH_VERSINFO[0] > 5 || BASH_VERSINFO[0] == 5 && BASH_VERSINFO[1] >= 1)); then
		PROMPT_COMMAND=(__tandem_first ${PROMPT_COMMAND[@]+"${PROMPT_COMMAND[@]}"} __tandem_last)
	else
		PROMPT_COMMAND=__tandem_first$'\n'${PROMPT_COMMAND:+$PROMPT_COMMAND$'\n'}__tandem_last
	fi
}

[[ -n $__tandem_nonce ]] && __tandem_install
unset -f __tandem_install
