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
	set -e __tandem_drawing
	# A prompt of the person's own may have replaced the one with marks. It may call a copy of that
	# one, as a Python environment's does, so each has the prompt below it under a name of its own.
	if not functions fish_prompt | string match -q '*__tandem_draw *'
		set -q __tandem_prompts; or set -g __tandem_prompts 0
		set -g __tandem_prompts (math $__tandem_prompts + 1)
		functions -c fish_prompt __tandem_prompt_$__tandem_prompts
		eval "function fish_prompt; __tandem_draw \$status __tandem_prompt_$__tandem_prompts; end"
	end
end

# __tandem_draw draws a prompt that is to show a status. Only the outermost one has marks.
function __tandem_draw
	if set -q __tandem_drawing
		__tandem_again $argv[1]
		$argv[2]
		return
	end
	set -g __tandem_drawing
	printf '\e]133;A;aid=%s\a' $__tandem_nonce
	__tandem_again $argv[1]
	$argv[2]
	printf '\e]133;B;aid=%s\a' $__tandem_nonce
	set -e __tandem_drawing
end

# __tandem_again gives the exit status that the prompt is to show.
function __tandem_again
	return $argv[1]
end
