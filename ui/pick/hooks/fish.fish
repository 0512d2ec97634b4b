# Tandem's history on ctrl+r. In ~/.config/fish/config.fish:  tandem init fish | source
# Enter runs the command, tab puts it on the line, esc leaves the line as it was.

if status is-interactive
	function __tandem_history
		set -l lines (command tandem history pick -- (commandline -b | string collect))
		set -l code $status
		if test $code -eq 0 -o $code -eq 10
			commandline -r -- (string join \n -- $lines | string collect)
		end
		commandline -f repaint
		if test $code -eq 0
			commandline -f execute
		end
	end

	bind \cr __tandem_history
	bind -M insert \cr __tandem_history
end
