# Marks around prompts and commands for fish, read behind its configuration.

set -g __tandem_nonce $TANDEM_SHELL_NONCE
set -e TANDEM_SHELL_NONCE

function __tandem_preexec --on-event fish_preexec
	set -l line (string sub -l 8192 -- "$argv[1]" | string collect)
	set line (string replace -a \\ \\\\ -- $line | string replace -a ';' '\\x3b' | string replace -a \e '\\x1b' | string replace -a \a '\\x07' | string replace -a \t '\\x09' | string replace -a \r '\\x0d' | string join '\\x0a')
	printf '\e]633;E;%s;%s\a\e]133;C;aid=%s\a' "$line" $__tandem_nonce $__tandem_nonce
end

function __tandem_postexec --on-event fish_postexec
	set -l code $status
	set -g __tandem_told
	printf '\e]133;D;%s;aid=%s\a' $code $__tandem_nonce
end

function __tandem_begin --on-event fish_prompt
	if set -q __tandem_begun; and not set -q __tandem_told
		printf '\e]133;D;aid=%s\a' $__tandem_nonce
	end
	set -g __tandem_begun
	set -e __tandem_told
	printf '\e]7;file://%s%s\a' $hostname (string escape --style=url -- $PWD)
	# A prompt of the person's own may have replaced the one with marks.
	if not functions fish_prompt | string match -q '*__tandem_nonce*'
		functions -q __tandem_prompt; and functions -e __tandem_prompt
		functions -c fish_prompt __tandem_prompt
		function fish_prompt
			set -l __tandem_status $status
			printf '\e]133;A;aid=%s\a' $__tandem_nonce
			__tandem_again $__tandem_status
			__tandem_prompt
			printf '\e]133;B;aid=%s\a' $__tandem_nonce
		end
	end
end

# __tandem_again gives the exit status that the prompt is to show.
function __tandem_again
	return $argv[1]
end
